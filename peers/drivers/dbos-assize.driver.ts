/** DBOS with `once` in the place of the message of a person and of the step. */

import { dbosOnce } from '@assize/engines';
import type { HeldCall } from '@assize/gate';
import { serveDriver } from '@assize/testing/conformance';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { DBOS_VERSIONS, dbosHandlers } from './support/dbos.ts';
import { gateFor } from './support/gate.ts';
import { versionsOf } from './support/versions.ts';

await serveDriver(async (setup) => {
  const gate = await gateFor(setup, { hasJudge: true });
  const once = dbosOnce(gate, DBOS);
  const heldOf = async (workflow: string, call: string): Promise<HeldCall | undefined> => {
    const held = await DBOS.getEvent<HeldCall>(workflow, `assize:${call}`, 0);
    return held !== null && (await gate.port.shown(held.approval)) !== undefined ? held : undefined;
  };
  return {
    name: 'DBOS with Assize',
    versions: { ...versionsOf('assize'), ...DBOS_VERSIONS },
    cannot: { ends: 'a workflow of the driver makes one call' },
    ...dbosHandlers(setup, {
      workflow: async ({ run, id, tool, args }) => {
        try {
          const text = await once({ run, key: id, tool, args }, ({ args, key }) =>
            setup.effect({ run, call: id, tool, args, key }),
          );
          return { call: id, isError: false, text };
        } catch (error) {
          const { code, message } = error as { readonly code?: string; readonly message: string };
          if (code !== 'call_refused' && code !== 'call_failed') throw error;
          return { call: id, isError: true, text: message };
        }
      },
      waitingOf: async (workflow, call) => {
        const held = await heldOf(workflow, call);
        return held && { call, tool: held.tool, args: held.args };
      },
      answer: async (workflow, call, answer) => {
        const held = await DBOS.getEvent<HeldCall>(workflow, `assize:${call}`, 0);
        const { decision, person } = answer ?? {};
        if (held === null) return;
        const { approval, digest } = held;
        await gate.port.decide(approval, { decision, by: person, method: 'dbos', digest } as never);
        await DBOS.send(workflow, 'decided', `assize:${call}`);
      },
    }),
  };
});
