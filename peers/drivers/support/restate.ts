/** The common part of the drivers of Restate: an invocation for each call, at a server of its own. */
import { createServer } from 'node:http2';
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
import * as restate from '@restatedev/restate-sdk';
import { JsonFiles } from './json-file.ts';
import { isFirst, keptServer, placeIn } from './kept-server.ts';
import { versionsOf } from './versions.ts';

export const RESTATE_VERSIONS = versionsOf('@restatedev/restate-sdk');

/** A call in its run, as the input of its invocation. */
export interface RunCall extends WantedCall {
  readonly run: string;
}

export interface RestateParts {
  /** The handler of a call. Returns what the model is told. */
  readonly handler: (ctx: restate.Context, call: RunCall) => Promise<Told>;
  /** The call that an invocation waits about, as a person is shown it. */
  readonly waitingOf: (call: RunCall) => Promise<WaitingCall | undefined>;
  /** Gives the answer of a person to an invocation. */
  readonly answer: (call: RunCall, answer: PersonAnswer, invocation: Invocation) => Promise<void>;
}

/** An invocation, as its client reaches it. */
export interface Invocation {
  readonly id: string;
  /** Sends JSON to the ingress of the server. */
  readonly post: (path: string, body: unknown) => Promise<unknown>;
  readonly isOver: () => Promise<boolean>;
}

type Handlers = Omit<DriverHandlers, 'name' | 'versions' | 'cannot'>;

interface StartedCall extends WantedCall {
  readonly invocation: string;
}

interface Addresses {
  readonly ingress: string;
  readonly admin: string;
  /** The port of the driver's service, which every process of the driver shares. */
  readonly service: number;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export function restateHandlers(
  { folder }: DriverSetup,
  { handler, waitingOf, answer }: RestateParts,
): Handlers {
  const runs = new JsonFiles<readonly StartedCall[]>(folder, 'calls');
  const service = restate.service({
    name: 'calls',
    handlers: {
      call: handler,
      decided: async (
        ctx: restate.Context,
        { invocation, call }: { invocation: string; call: string },
      ) => {
        ctx
          .invocation(restate.InvocationIdParser.fromString(invocation))
          .signal(`assize:${call}`)
          .resolve();
      },
    },
  });
  placeIn(folder);
  let launched: Promise<Addresses> | undefined;

  function launch(): Promise<Addresses> {
    launched ??= (async () => {
      const addresses = await keptServer<Addresses>('restate', folder);
      const server = createServer(restate.createEndpointHandler({ services: [service] }));
      // As several instances of a service behind one address.
      await new Promise<void>((resolve) =>
        server.listen({ port: addresses.service, host: '127.0.0.1', reusePort: true }, resolve),
      );
      if (isFirst(`${folder}/registered`)) {
        const body = JSON.stringify({ uri: `http://127.0.0.1:${addresses.service}` });
        const answer = await fetch(`${addresses.admin}/deployments`, {
          method: 'POST',
          headers: JSON_TYPE,
          body,
        });
        if (!answer.ok) throw new Error(await answer.text());
      }
      return addresses;
    })();
    return launched;
  }

  async function post(path: string, body: unknown): Promise<unknown> {
    const { ingress } = await launch();
    const answer = await fetch(`${ingress}${path}`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The result of an invocation, its error, or neither. */
  async function outputOf(id: string): Promise<{ readonly told?: Told; readonly error?: string }> {
    const { ingress } = await launch();
    const answer = await fetch(`${ingress}/restate/invocation/${id}/output`);
    const text = await answer.text();
    if (answer.ok) return { told: JSON.parse(text) as Told };
    return answer.status === 470 ? {} : { error: text };
  }

  const isOver = async (id: string): Promise<boolean> => Object.keys(await outputOf(id)).length > 0;

  async function progress(run: string): Promise<Progress> {
    const told: Told[] = [];
    const waiting: WaitingCall[] = [];
    const errors: string[] = [];
    for (const call of runs.read(run) ?? []) {
      for (;;) {
        const output = await outputOf(call.invocation);
        if (output.told !== undefined) told.push(output.told);
        if (output.error !== undefined) errors.push(output.error);
        const shown =
          Object.keys(output).length > 0 ? undefined : await waitingOf({ run, ...call });
        if (shown !== undefined) waiting.push(shown);
        if (shown !== undefined || Object.keys(output).length > 0) break;
        await sleep(25);
      }
    }
    if (errors.length > 0) return { state: 'failed', error: errors.join('; '), told };
    return waiting.length > 0 ? { state: 'paused', waiting, told } : { state: 'done', told };
  }

  return {
    async start({ run, calls }) {
      const started: StartedCall[] = [];
      for (const call of calls) {
        const { invocationId } = (await post('/calls/call/send', { run, ...call })) as {
          invocationId: string;
        };
        started.push({ ...call, invocation: invocationId });
      }
      runs.write(run, [...(runs.read(run) ?? []), ...started]);
      return progress(run);
    },
    async resume({ run, answers }) {
      await launch();
      const all = [run, ...runs.runs()].flatMap((of) =>
        (runs.read(of) ?? []).map((call) => ({ run: of, ...call })),
      );
      for (const [id, given] of Object.entries(answers)) {
        const call = all.find((each) => each.id === id);
        if (call === undefined) throw new Error(`there is no call ${id}`);
        const { invocation } = call;
        await answer(call, given, { id: invocation, post, isOver: () => isOver(invocation) });
      }
      return progress(run);
    },
    // The server goes on with the invocations of a process that ended, when another one listens.
    retry: ({ run }) => progress(run),
    async fork({ run }) {
      const { admin } = await launch();
      const forks: StartedCall[] = [];
      for (const call of runs.read(run) ?? []) {
        const answer = await fetch(`${admin}/invocations/${call.invocation}/restart-as-new`, {
          method: 'PATCH',
        });
        if (!answer.ok) throw new Error(await answer.text());
        const { new_invocation_id: invocation } = (await answer.json()) as {
          readonly new_invocation_id: string;
        };
        forks.push({ ...call, invocation });
      }
      runs.write(run, forks);
      return progress(run);
    },
    async shown({ run }) {
      await launch();
      const found = await Promise.all(
        (runs.read(run) ?? []).map((call) => waitingOf({ run, ...call })),
      );
      return found.filter((waiting) => waiting !== undefined);
    },
  };
}
