/** Restate with `once` in the place of the awakeable and of `ctx.run`. */

import { restateOnce } from '@assize/engines';
import type { HeldCall } from '@assize/gate';
import { serveDriver } from '@assize/testing/conformance';
import * as restate from '@restatedev/restate-sdk';
import { gateFor } from './support/gate.ts';
import { JsonFiles } from './support/json-file.ts';
import { RESTATE_VERSIONS, type RunCall, restateHandlers } from './support/restate.ts';
import { versionsOf } from './support/versions.ts';

await serveDriver(async (setup) => {
  const gate = await gateFor(setup, { hasJudge: true });
  const questions = new JsonFiles<HeldCall>(setup.folder, 'question');
  const keyOf = ({ run, id }: Pick<RunCall, 'run' | 'id'>): string => `${run}.${id}`;
  const once = restateOnce(gate, restate, {
    onPending: (held) => questions.write(keyOf(held), held),
  });
  const heldOf = async (call: RunCall): Promise<HeldCall | undefined> => {
    const held = questions.read(keyOf(call));
    return held !== undefined && (await gate.port.shown(held.approval)) !== undefined
      ? held
      : undefined;
  };
  return {
    name: 'Restate with Assize',
    versions: { ...versionsOf('assize'), ...RESTATE_VERSIONS },
    cannot: {
      ends: 'a handler of the driver makes one call',
      tamper: 'no client of the server can change its journal',
    },
    ...restateHandlers(setup, {
      handler: async (ctx, { run, id, tool, args }) => {
        try {
          const text = await once(ctx, { run, key: id, tool, args }, ({ args, key }) =>
            setup.effect({ run, call: id, tool, args, key }),
          );
          return { call: id, isError: false, text };
        } catch (error) {
          const code =
            error instanceof restate.TerminalError ? error.metadata?.['code'] : undefined;
          if (code !== 'call_refused' && code !== 'call_failed') throw error;
          return { call: id, isError: true, text: (error as Error).message };
        }
      },
      waitingOf: async (call) => {
        const held = await heldOf(call);
        return held && { call: held.id, tool: held.tool, args: held.args };
      },
      answer: async (call, answer, { id, post }) => {
        const held = questions.read(keyOf(call));
        const { decision, person } = answer ?? {};
        if (held === undefined) return;
        const { approval, digest } = held;
        await gate.port.decide(approval, {
          decision,
          by: person,
          method: 'restate',
          digest,
        } as never);
        await post('/calls/decided', { invocation: id, call: call.id });
      },
    }),
  };
});
