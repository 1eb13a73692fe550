// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build libraries

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// sampler records all spans except those of this name.
type sampler struct{ sdk.Sampler }

func (s sampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	if p.Name == "not sampled" {
		return sdk.NeverSample().ShouldSample(p)
	}
	return s.Sampler.ShouldSample(p)
}

// span starts a span, prints its ids, and counts it when it ends.
func span(ctx context.Context, name string) (context.Context, func()) {
	since := time.Now()
	ctx, span := tracer.Start(ctx, name, trace.WithAttributes(attribute.String("secret", "secret")))
	id := span.SpanContext()
	if span.IsRecording() {
		printSpan(fmt.Sprintf("span\t%s\ttrace=%s span=%s", name, id.TraceID(), id.SpanID()))
	}
	return ctx, func() {
		span.End()
		if span.SpanContext().IsSampled() {
			count("span "+name, "-", since)
		}
		span.End() // again, as in programs that defer it
	}
}

var spans struct {
	sync.Mutex
	lines []string
}

func printSpan(line string) {
	spans.Lock()
	spans.lines = append(spans.lines, line)
	spans.Unlock()
}

var tracer = sdk.NewTracerProvider(sdk.WithSampler(sampler{sdk.AlwaysSample()})).Tracer("requests")

func makeSpans() {
	var group sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50/few; i++ {
				ctx, end := span(context.Background(), "outer")
				inner, endInner := span(ctx, "inner")
				_, endNot := span(inner, "not sampled")
				endNot()
				endInner()
				_, endOther := span(ctx, "ends elsewhere")
				done := make(chan bool)
				go func() {
					endOther()
					close(done)
				}()
				<-done
				end()
			}
			_, end := span(context.Background(), "short")
			time.Sleep(5 * time.Millisecond)
			end()
		}()
	}
	group.Wait()
	spans.Lock()
	for _, line := range spans.lines {
		fmt.Println(line)
	}
	spans.lines = nil
	spans.Unlock()
}
