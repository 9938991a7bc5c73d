package main

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm/logger"

	. "rowferry/tours/tour"
)

// recorder keeps the statements that change something.
type recorder struct {
	changes Lines
}

func (r *recorder) LogMode(logger.LogLevel) logger.Interface { return r }

func (r *recorder) Info(context.Context, string, ...any) {}

func (r *recorder) Warn(context.Context, string, ...any) {}

func (r *recorder) Error(context.Context, string, ...any) {}

func (r *recorder) Trace(_ context.Context, _ time.Time, told func() (string, int64), _ error) {
	text, _ := told()
	if !strings.HasPrefix(strings.ToLower(text), "select") {
		r.changes = append(r.changes, text)
	}
}
