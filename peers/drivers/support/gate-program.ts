/** A program without a framework that makes the calls of its model through a `Gate`. */
import type { GateCall, HeldCall } from '@assize/gate';
import type {
  Answers,
  DriverHandlers,
  DriverSetup,
  Progress,
  Told,
  WantedCall,
} from '@assize/testing/conformance';
import { endIn, gateFor } from './gate.ts';
import { JsonFiles } from './json-file.ts';
import { versionsOf } from './versions.ts';

/** The message of the model, and the calls that a person was shown. */
interface Kept {
  readonly calls: readonly WantedCall[];
  readonly held: readonly HeldCall[];
}

/** @param isServed - whether a server judges the calls, over HTTP */
export async function gateProgram(
  setup: DriverSetup,
  { name, isServed }: { readonly name: string; readonly isServed: boolean },
): Promise<DriverHandlers> {
  const gate = await gateFor(setup, { hasJudge: true, isServed });
  const runs = new JsonFiles<Kept>(setup.folder, 'run');

  async function goOn(run: string): Promise<Progress> {
    const kept = runs.read(run);
    if (kept === undefined) throw new Error(`there is no run ${run}`);
    const held: HeldCall[] = [];
    const told: Told[] = [];
    const doubts: string[] = [];
    const ends = kept.calls.map(async ({ id, tool, args }) => {
      const asked: GateCall = { run, id, tool, args };
      const made = await gate.run(asked, ({ args, key }) =>
        setup.effect({ run, call: id, tool, args, key }),
      );
      if (made.end === 'pending') {
        const shown = await gate.held(asked, made);
        if (shown !== undefined) held.push(shown);
      } else if (made.end === 'done') told.push({ call: id, isError: false, text: made.result });
      else if (made.end === 'doubt') doubts.push(made.reason);
      else
        told.push({
          call: id,
          isError: true,
          text: made.end === 'refused' ? made.reason : String(made.error),
        });
    });
    await Promise.all(ends);
    runs.write(run, { calls: kept.calls, held });
    if (doubts.length > 0) return { state: 'failed', error: doubts.join(), told };
    if (held.length > 0)
      return {
        state: 'paused',
        waiting: held.map(({ id, tool, args }) => ({ call: id, tool, args })),
        told,
      };
    return { state: 'done', told };
  }

  async function decide(run: string, answers: Answers): Promise<void> {
    for (const { id, approval, digest } of runs.read(run)?.held ?? []) {
      if (!(id in answers)) continue;
      const { decision, person } = answers[id] ?? {};
      await gate.port.decide(approval, {
        decision,
        by: person,
        method: 'conformance',
        digest,
      } as never);
    }
  }

  return {
    name,
    versions: versionsOf('assize'),
    start: ({ run, calls }) => {
      runs.write(run, { calls, held: [] });
      return goOn(run);
    },
    resume: async ({ run, answers }) => {
      await decide(run, answers);
      return goOn(run);
    },
    retry: ({ run }) => goOn(run),
    fork: ({ run }) => goOn(run),
    end: endIn(gate, setup),
    tamper: async ({ run, call, tool, args }) => {
      const kept = runs.read(run);
      if (kept === undefined) return 0;
      const calls = kept.calls.map((each) => (each.id === call ? { ...each, tool, args } : each));
      runs.write(run, { ...kept, calls });
      return 1;
    },
    shown: async ({ run }) =>
      (runs.read(run)?.held ?? []).map(({ id, tool, args }) => ({ call: id, tool, args })),
  };
}
