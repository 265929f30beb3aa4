package main

import "github.com/openclaw-verifier/verifier/config"

// SchemaCmd prints the config's schema.
type SchemaCmd struct{}

// Help is the long help.
func (*SchemaCmd) Help() string {
	return `An editor that knows JSON schemas completes keys, explains them and underlines mistakes while you type. "verifier init" writes the schema beside the config and names it in the first line:

    # yaml-language-server: $schema=` + schemaFile + `

For a config that was there before, or after an update:

    $ verifier schema > ` + schemaFile + `

Which settings are risky, "verifier check" says.`
}

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
