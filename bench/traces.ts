/**
 * The cost of traces: a step without a tracer beside the bare function, and proposals with
 * a tracer that does nothing, and with spans of OpenTelemetry, beside proposals without a tracer.
 */

import { traceAssize } from '@assize/opentelemetry';
import { MemoryStore } from '@assize/testing/memory';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { installTracer, type Tracer, traced } from '#traces';
import {
  type BenchResult,
  type Contender,
  compare,
  formatTable,
  keep,
  rateResult,
} from './measure.ts';
import { openShop, visit } from './shop.ts';

const MEMBERS = 1_000;
/** Enough for a proposal to be compiled. */
const WARM_MS = 1_000;

const silent: Tracer = {
  step: (_, run) => run(),
  interval: () => undefined,
  traceparent: () => undefined,
  isRecorded: true,
};

export async function tracesBench(): Promise<BenchResult[]> {
  return [await bareSteps(), ...(await proposals())];
}

async function bareSteps(): Promise<BenchResult> {
  const work = async (n: number): Promise<number> => n + 1;
  const bare: Contender = {
    name: 'the bare function',
    run: async (count) => {
      for (let n = 0; n < count; n++) keep(await work(n));
    },
  };
  const off: Contender = {
    name: 'a step without a tracer',
    run: async (count) => {
      for (let n = 0; n < count; n++)
        keep(
          await traced(
            () => ({ name: 'work', facts: { n } }),
            () => work(n),
          ),
        );
    },
  };
  const [direct, told] = await compare([bare, off]);
  return rateResult(told!, direct, { ratioMin: 0.5 });
}

async function proposals(): Promise<BenchResult[]> {
  const { trajectory, writ } = await openShop(new MemoryStore(), MEMBERS);
  let made = 0;
  const contender = (name: string, start: () => () => void): Contender => ({
    name,
    run: async (count) => {
      const stop = start();
      for (let n = 0; n < count; n++)
        keep(await trajectory.propose({ ...visit(made++, MEMBERS), writ }));
      stop();
    },
  });
  const tracerProvider = new BasicTracerProvider();
  const [none, noop, spans] = await compare(
    [
      contender('without a tracer', () => () => undefined),
      contender('proposals in memory, a tracer that does nothing', () => installTracer(silent)),
      contender('proposals in memory, spans of OpenTelemetry', () =>
        traceAssize({ tracerProvider }),
      ),
    ],
    { warmMs: WARM_MS },
  );
  return [rateResult(noop!, none, { ratioMin: 0.8 }), rateResult(spans!, none)];
}

if (import.meta.main) console.log(formatTable(await tracesBench()));
