package main

import "github.com/openclaw-verifier/verifier/config"

// SchemaCmd prints the config's schema.
type SchemaCmd struct{}

// schemaFile is what the schema is called beside a config.
const schemaFile = "verifier.schema.json"

// Run prints.
func (*SchemaCmd) Run(a *app) error {
	text, err := config.Schema(a.chats.platforms())
	if err != nil {
		return err
	}
	a.printf("%s", text)
	return nil
}
