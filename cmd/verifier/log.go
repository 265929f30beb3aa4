package main

import (
	"errors"
	"io"
	"log/slog"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/server"
)

// newLog is the server's own log, as the config wants it. Its level can be
// changed while it is in use.
func newLog(w io.Writer, c config.Log, level *slog.LevelVar) *slog.Logger {
	level.Set(logLevel(c.Level))
	options := &slog.HandlerOptions{Level: level}
	if c.Format == config.LogJSON {
		return slog.New(server.WithRequestIDs(slog.NewJSONHandler(w, options)))
	}
	return slog.New(server.WithRequestIDs(slog.NewTextHandler(w, options)))
}

func logLevel(l config.LogLevel) slog.Level {
	return map[config.LogLevel]slog.Level{
		config.LogDebug: slog.LevelDebug, config.LogInfo: slog.LevelInfo, config.LogWarn: slog.LevelWarn, config.LogError: slog.LevelError,
	}[l]
}

// logFindings tells what is risky in a config.
func logFindings(log *slog.Logger, path string, findings []config.Finding) {
	for _, f := range findings {
		if f.Severity == config.Warning {
			log.Warn("config: "+f.String(), "at", place(path, f.Line, f.Col))
		}
	}
}

// logRefusal tells what is wrong with a config that was not taken, each thing in
// a line.
func logRefusal(log *slog.Logger, err error) {
	all, ok := errors.AsType[config.Errors](err)
	if !ok {
		log.Error("the config was not reloaded; the old one stays in force", "err", err)
		return
	}
	for _, e := range all {
		log.Error("config: "+e.Error(), "hint", e.Hint)
	}
	log.Error("the config was not reloaded; the old one stays in force", "errors", len(all))
}
