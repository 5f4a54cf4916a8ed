import type { DurableRun } from '@assize/agents/internal/agents';
import { arg, checkArgument } from 'assize/internal/base';
import { systemClock } from 'assize/internal/oracle';
import {
  advanced,
  CARRIER,
  CARRYING,
  type CarryingOptions,
  carriedRun,
  limitedAdvancer,
  RUN_KEY,
  type RunAdvancer,
} from './carry-run.ts';
import { DBOS, type DbosOptions, type DbosSdk, type DbosStepConfig, RETRIES } from './dbos.ts';
import { wakeTopic } from './waiting.ts';

/** The options of a workflow that carries runs. */
export type DbosRunOptions = CarryingOptions & Pick<DbosOptions, 'retries'>;

/**
 * The body of a DBOS workflow that carries one durable run to its end, and returns its record.
 * Register it with `DBOS.registerWorkflow`, and start it with the trajectory. The workflow waits in
 * `DBOS.recv`. A message with the topic `assize:run` makes it look at the run immediately.
 *
 * Register the workflow with a large `maxRecoveryAttempts`. DBOS counts each restart of a process,
 * and by default gives up a workflow that waits through 100 of them.
 *
 * The function that it returns throws RunError `not_found`, and the errors of
 * the store after the retries of DBOS.
 *
 * @throws ArgumentError `bad_argument`
 */
export function dbosRuns(
  carrier: RunAdvancer,
  dbos: DbosSdk,
  options: DbosRunOptions = {},
): (trajectoryId: string) => Promise<DurableRun> {
  checkArgument(CARRIER, carrier, 'carrier');
  checkArgument(DBOS, dbos, 'dbos');
  checkArgument(OPTIONS, options, 'options');
  const { retries = {}, ...asking } = options;
  const limited = limitedAdvancer(carrier, asking);
  const config: DbosStepConfig = { ...RETRIES, ...retries };
  return async (trajectoryId) => {
    checkArgument(arg.text, trajectoryId, 'trajectoryId');
    return carriedRun(
      {
        advance: (name) =>
          dbos.runStep(() => advanced(limited, trajectoryId, () => systemClock.now()), {
            ...config,
            name,
          }),
        wait: async (ms) => void (await dbos.recv(wakeTopic(RUN_KEY), ms / 1_000)),
      },
      asking,
    );
  };
}

const OPTIONS = arg.options<DbosRunOptions>({ ...CARRYING, retries: arg.optional(arg.object) });
