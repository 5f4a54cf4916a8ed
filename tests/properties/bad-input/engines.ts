import { isAssizeError } from '#base';
import { connectGate } from '#calls';
import * as engines from '#integrations/engines';
import type { Case, Exempt } from './case.ts';
import { MADE, PORT, takes } from './table.ts';

const gate = () => connectGate({ url: 'http://127.0.0.1:9', token: 't', server: 'shop' });
const call = () => ({ key: 'pay', tool: 'pay', args: { to: 'bob' }, run: 'order-7' });
const waiting = () => ({ askAgainMs: 10, askAgainMaxMs: 20 });
const carrier = () => ({ advance: () => undefined });
const dbos = () => ({
  ...{
    workflowID: 'w1',
    stepID: 1,
    isInWorkflow: () => true,
    runStep: () => undefined,
    recv: () => undefined,
  },
  ...{ setEvent: () => undefined, getWorkflowStatus: () => undefined },
});
const temporal = () => ({
  activityInfo: () => ({ activityId: '1', attempt: 1 }),
  ApplicationFailure: { create: () => new Error('failed') },
  CancelledFailure: Error,
});

/** No server answers here. */
function unanswered(error: unknown): void {
  if (!isAssizeError(error, 'unreachable')) throw error;
}

export const ENGINES: Readonly<Record<string, Case | Exempt>> = {
  once: takes(
    ((...given: Parameters<typeof engines.once>) =>
      engines.once(...given).catch(unanswered)) as never,
    () => [gate(), call(), () => null, { idempotent: true, waitMs: 10 }],
    {
      0: MADE,
    },
  ),
  dbosOnce: takes(
    engines.dbosOnce as never,
    () => [gate(), dbos(), { ...waiting(), retries: { maxAttempts: 2 } }],
    {
      0: MADE,
      1: PORT,
    },
  ),
  dbosRuns: takes(
    engines.dbosRuns as never,
    () => [carrier(), dbos(), { ...waiting(), concurrency: 3, retries: { maxAttempts: 2 } }],
    {
      0: PORT,
      1: PORT,
    },
  ),
  restateRuns: takes(
    engines.restateRuns as never,
    () => [
      carrier(),
      { TerminalError: Error, TimeoutError: Error },
      { ...waiting(), concurrency: 3 },
    ],
    { 0: PORT, 1: PORT },
  ),
  restateOnce: takes(
    engines.restateOnce as never,
    () => [
      gate(),
      { TerminalError: Error, TimeoutError: Error },
      { ...waiting(), onPending: () => undefined },
    ],
    { 0: MADE, 1: PORT },
  ),
  temporalOnce: takes(engines.temporalOnce as never, () => [gate(), temporal(), waiting()], {
    0: MADE,
    1: PORT,
  }),
};
