package policy

// Labelled are the params that the shipped labels of a tool name.
func Labelled(tool string) (destinations, content []string) {
	return shippedLabels[tool].destinations, shippedLabels[tool].content
}
