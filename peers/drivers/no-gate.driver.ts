/**
 * The baseline: a program without a framework and without a gate. It asks a person about payments,
 * keeps what was decided and made in files, and calls its tools itself.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type Answers,
  type Progress,
  serveDriver,
  type Told,
  type WantedCall,
} from '@assize/testing/conformance';
import { JsonFiles } from './support/json-file.ts';

/** A call of a run, with what is known of it. */
interface Kept {
  readonly asked: WantedCall;
  readonly isApproved?: boolean;
  readonly text?: string;
}

await serveDriver(async ({ folder, effect }) => {
  const messages = new JsonFiles<readonly WantedCall[]>(folder, 'message');
  const calls = new JsonFiles<Kept>(folder, 'call');
  const keyOf = (run: string, id: string): string => `${run} ${id}`;

  async function make(run: string, call: WantedCall): Promise<Told | undefined> {
    const key = keyOf(run, call.id);
    const kept = calls.read(key) ?? { asked: call };
    const told = (text: string, isError = true): Told => ({ call: call.id, isError, text });
    calls.write(key, kept);
    if (!isDeepStrictEqual(kept.asked, call)) return told('the call was changed');
    if (kept.text !== undefined) return told(kept.text, false);
    if (call.tool === 'pay' || call.tool === 'refund') {
      if (kept.isApproved === undefined) return undefined;
      if (!kept.isApproved) return told('a person said no');
    }
    const { id, tool, args } = call;
    const text = await effect({ run, call: id, tool, args });
    calls.write(key, { ...kept, text });
    return told(text, false);
  }

  function decide(run: string, answers: Answers): void {
    for (const { id } of messages.read(run) ?? []) {
      const { decision, person } = answers[id] ?? {};
      const kept = calls.read(keyOf(run, id));
      const isDecision = decision === 'approve' || decision === 'reject';
      if (!isDecision || typeof person !== 'string' || person === '') continue;
      if (kept !== undefined && kept.isApproved === undefined)
        calls.write(keyOf(run, id), { ...kept, isApproved: decision === 'approve' });
    }
  }

  async function goOn(run: string): Promise<Progress> {
    const wanted = messages.read(run) ?? [];
    const ends = await Promise.all(wanted.map((call) => make(run, call)));
    const told = ends.filter((end) => end !== undefined);
    const waiting = wanted
      .filter((_, i) => ends[i] === undefined)
      .map(({ id, tool, args }) => ({ call: id, tool, args }));
    return waiting.length > 0 ? { state: 'paused', waiting, told } : { state: 'done', told };
  }

  return {
    name: 'No gate',
    versions: { node: process.versions.node },
    cannot: {
      expiry: 'a question has no expiry',
      hook: 'no function of the program takes part in a decision',
    },
    start: ({ run, calls: wanted }) => {
      messages.write(run, wanted);
      return goOn(run);
    },
    resume: ({ run, answers }) => {
      decide(run, answers);
      return goOn(run);
    },
    retry: ({ run }) => goOn(run),
    fork: ({ run }) => goOn(run),
    tamper: async ({ run, call, tool, args }) => {
      const changed = (messages.read(run) ?? []).map((each) =>
        each.id === call ? { ...each, tool, args } : each,
      );
      messages.write(run, changed);
      return 1;
    },
    shown: async ({ run }) =>
      (messages.read(run) ?? []).map(({ id, tool, args }) => ({ call: id, tool, args })),
    end: async () => [],
  };
});
