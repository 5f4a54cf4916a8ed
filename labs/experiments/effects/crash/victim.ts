/**
 * A process that places an order and is killed at one point, by itself or by the owner of the
 * sinks. Its one argument is a `VictimArguments` value.
 */
import { flushCompileCache } from 'node:module';
import { openStore, type Store } from 'assize/internal/stores';
import { AT_SINK, isOfUndoing, type Point, type VictimArguments } from './points.ts';
import { Shop, toolsOf } from './shop.ts';

const { url, port, sink, point } = JSON.parse(process.argv[2] ?? '') as VictimArguments;

// For the next process: a killed process saves no compile cache.
flushCompileCache();

/** SIGKILL, like a power cut: this process does nothing after it. */
function killedAt(here: Point): void {
  if (here === point && AT_SINK[point] === undefined) process.kill(process.pid, 'SIGKILL');
}

const tools = toolsOf(port, sink, (place, tool) => {
  if (tool === 'send') {
    if (place === 'do') killedAt('before the held call');
    if (place === 'done') killedAt('after the held call, before that is written');
    return;
  }
  if (place === 'do') killedAt('before a call, whose intent is durable');
  if (place === 'done') killedAt('after the call, before that is written');
  if (place === 'undo') killedAt('before what was done is undone');
  if (place === 'undone') killedAt('after that, before it is written');
});

const store = new Proxy(await openStore(url), {
  get(target, name) {
    const member = Reflect.get(target, name) as unknown;
    if (typeof member !== 'function') return member;
    if (name !== 'commit') return member.bind(target);
    return async (...args: unknown[]) => {
      killedAt('before the commit');
      const answer: unknown = await Reflect.apply(member, target, args);
      killedAt('after the commit');
      return answer;
    };
  },
}) as Store;

const end = (): void => {
  if (isOfUndoing(point)) throw new Error('it comes to nothing');
};
const shop = new Shop(store, tools);
await shop
  .place('order', end, () => killedAt('in the body, before any call'))
  .catch((error: unknown) => {
    if (!isOfUndoing(point)) throw error;
  });
killedAt('when the caller is told');
throw new Error(`The process was not killed at ${JSON.stringify(point)}.`);
