import type { Domain } from '#kernel';
import type { FromThread, ParallelOptions, Thread, ToThread } from '#runtime';
import { Replicas } from '../../src/runtime/propose/parallel/index.ts';

/** What becomes of a message to a thread of a test: how many turns its answer takes, or that it is the last one. */
export type Fate = number | 'dies' | 'hangs';

/** How often threads were asked, and how often they answered. */
export interface Asked {
  asks: number;
  answers: number;
}

/** Threads that are none: they do what threads do, in this one, and answer when they are told to. */
export function threadsOf(
  domain: Domain,
  fates: readonly Fate[],
  options: Partial<ParallelOptions> = {},
  asked: Asked = { asks: 0, answers: 0 },
): ParallelOptions {
  let next = 0;
  const fate = (): Fate => fates[next++ % fates.length] ?? 0;
  return {
    workers: 2,
    module: new URL('test:none'),
    // Only what hangs is to be given up, however slow the machine is.
    patienceMs: fates.includes('hangs') ? 5 : 60_000,
    onWorkerFailed: () => {},
    begin: () => fakeThread(domain, fate, asked),
    ...options,
  };
}

function fakeThread(domain: Domain, fate: () => Fate, asked: Asked): Thread {
  const replicas = new Replicas(domain);
  let listener!: Parameters<Thread['listen']>[0];
  let isEnded = false;
  let before: Promise<void> = Promise.resolve();
  const say = (message: FromThread): void => {
    if (!isEnded) listener.said(structuredClone(message));
  };
  const end = (why: string): void => {
    if (isEnded) return;
    isEnded = true;
    listener.ended(why);
  };
  const hear = async (message: ToThread, what: Fate): Promise<void> => {
    if (what === 'dies') return end('it died');
    for (let i = 0; i < (what as number); i++) await new Promise((resolve) => setImmediate(resolve));
    const answer = replicas.hear(message);
    if (answer?.from === 'foreseen') asked.answers += answer.answers.filter(({ foreseen }) => foreseen).length;
    if (answer !== undefined) say(answer);
  };
  return {
    listen: (given) => {
      listener = given;
      queueMicrotask(() => say({ from: 'ready', name: domain.name, version: domain.version, hash: domain.hash }));
    },
    post: (message) => {
      const sent = structuredClone(message);
      if (message.to === 'foresee') asked.asks += message.asks.length;
      const what = message.to === 'foresee' && message.asks.length > 0 ? fate() : 0;
      if (what === 'hangs') before = new Promise(() => {});
      else before = before.then(() => hear(sent, what));
    },
    hold: () => {},
    end: async () => end('it was ended'),
  };
}
