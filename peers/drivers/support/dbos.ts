/** The common part of the drivers of DBOS: a workflow for each call, in PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  DriverHandlers,
  DriverSetup,
  PersonAnswer,
  Progress,
  Told,
  WaitingCall,
  WantedCall,
} from '@assize/testing/conformance';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { Client } from 'pg';
import { JsonFiles } from './json-file.ts';
import { keptServer, placeIn } from './kept-server.ts';
import { versionsOf } from './versions.ts';

export const DBOS_VERSIONS = versionsOf('@dbos-inc/dbos-sdk');

/** A call in its run, as the input of its workflow. */
export interface RunCall extends WantedCall {
  readonly run: string;
}

/** A call with the id of its newest workflow. */
interface StartedCall extends WantedCall {
  readonly workflow: string;
}

export interface DbosParts {
  /** The workflow of a call. Returns what the model is told. */
  readonly workflow: (call: RunCall) => Promise<Told>;
  /** The call that a workflow waits about, as a person is shown it. */
  readonly waitingOf: (workflow: string, call: string) => Promise<WaitingCall | undefined>;
  /** Gives the answer of a person to a workflow. */
  readonly answer: (workflow: string, call: string, answer: PersonAnswer) => Promise<void>;
}

type Handlers = Omit<DriverHandlers, 'name' | 'versions' | 'cannot'>;

/** The states of a workflow that does not go on by itself. */
export const OVER: readonly string[] = [
  'SUCCESS',
  'ERROR',
  'CANCELLED',
  'MAX_RECOVERY_ATTEMPTS_EXCEEDED',
];

export function workflowOf(run: string, call: string): string {
  return `${run}.${call}`;
}

export function dbosHandlers(
  { folder }: DriverSetup,
  { workflow, waitingOf, answer }: DbosParts,
): Handlers {
  const runs = new JsonFiles<readonly StartedCall[]>(folder, 'calls');
  // A process that starts again has its name again, and recovers its own workflows.
  const executorID = placeIn(folder);
  const registered = DBOS.registerWorkflow(workflow, { name: 'call' });
  let launched: Promise<void> | undefined;

  const database = async (): Promise<string> =>
    (await keptServer<{ url: string }>('postgres', folder)).url;

  function launch(): Promise<void> {
    launched ??= (async () => {
      const systemDatabaseUrl = await database();
      DBOS.setConfig({
        name: 'conformance',
        systemDatabaseUrl,
        executorID,
        applicationVersion: '1',
        logLevel: 'error',
      });
      await DBOS.launch();
    })();
    return launched;
  }

  /** The workflows of a run, in the order of its messages. */
  const workflowsOf = (run: string): [string, WantedCall][] =>
    (runs.read(run) ?? []).map(({ workflow: id, ...call }) => [id, call]);

  async function progress(run: string): Promise<Progress> {
    await launch();
    const told: Told[] = [];
    const waiting: WaitingCall[] = [];
    const errors: string[] = [];
    for (const [id, call] of workflowsOf(run)) {
      for (;;) {
        const { status } = (await DBOS.getWorkflowStatus(id)) ?? {};
        if (status !== undefined && OVER.includes(status)) {
          try {
            told.push((await DBOS.getResult<Told>(id)) as Told);
          } catch (error) {
            errors.push(String(error));
          }
          break;
        }
        const shown = await waitingOf(id, call.id);
        if (shown !== undefined) {
          waiting.push(shown);
          break;
        }
        await sleep(25);
      }
    }
    if (errors.length > 0) return { state: 'failed', error: errors.join('; '), told };
    return waiting.length > 0 ? { state: 'paused', waiting, told } : { state: 'done', told };
  }

  return {
    async start({ run, calls }) {
      await launch();
      const started = calls.map((call) => ({ ...call, workflow: workflowOf(run, call.id) }));
      runs.write(run, [...(runs.read(run) ?? []), ...started]);
      for (const call of calls)
        await DBOS.startWorkflow(registered, { workflowID: workflowOf(run, call.id) })({
          run,
          ...call,
        });
      return progress(run);
    },
    async resume({ run, answers }) {
      await launch();
      for (const [call, given] of Object.entries(answers)) {
        const all = [run, ...runs.runs()].flatMap(workflowsOf);
        const [id] = all.find(([, { id }]) => id === call) ?? [workflowOf(run, call)];
        await answer(id, call, given);
      }
      return progress(run);
    },
    async retry({ run }) {
      // The launch recovers the workflows of a process that ended. One that failed is rewound.
      await launch();
      for (const [id] of workflowsOf(run)) {
        if ((await DBOS.getWorkflowStatus(id))?.status !== 'ERROR') continue;
        const steps = (await DBOS.listWorkflowSteps(id)) ?? [];
        const failed = steps.find(({ error }) => error !== null) ?? steps.at(-1);
        await DBOS.rewindWorkflow(id, { startStep: failed?.functionID ?? 0 });
      }
      return progress(run);
    },
    async fork({ run }) {
      await launch();
      const fork = async ([id, call]: [string, WantedCall]): Promise<StartedCall> => {
        const { workflowID } = await DBOS.forkWorkflow<Told>(id, 0);
        return { ...call, workflow: workflowID };
      };
      runs.write(run, await Promise.all(workflowsOf(run).map(fork)));
      return progress(run);
    },
    async tamper({ run, call, tool, args }) {
      const was = runs.read(run)?.find(({ id }) => id === call);
      const stored = (given: Pick<WantedCall, 'tool' | 'args'> | undefined): string =>
        `"tool":${JSON.stringify(given?.tool)},"args":${JSON.stringify(given?.args)}`;
      const client = new Client({ connectionString: await database() });
      await client.connect();
      try {
        const { rowCount } = await client.query(
          `UPDATE dbos.workflow_input SET inputs = replace(inputs, $2, $3)
           WHERE workflow_uuid = $1 AND position($2 in inputs) > 0`,
          [workflowOf(run, call), stored(was), stored({ tool, args })],
        );
        return rowCount ?? 0;
      } finally {
        await client.end();
      }
    },
    async shown({ run }) {
      await launch();
      const found = await Promise.all(workflowsOf(run).map(([id, call]) => waitingOf(id, call.id)));
      return found.filter((waiting) => waiting !== undefined);
    },
  };
}
