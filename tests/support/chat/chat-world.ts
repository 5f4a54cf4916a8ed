import { MemoryStore } from '@assize/testing/memory';
import type { Model } from '#agents';
import type { Json } from '#base';
import {
  type ChatDomainOptions,
  ChatMemory,
  type ChatMemoryOptions,
  type ChatWorld,
  chatDomain,
} from '#chat';
import type { Trajectory } from '#runtime';
import type { Store } from '#stores';
import { HandClock, runtimeOver, writFor } from '../ledger/runtime.ts';

export interface ChatWorldForTest {
  readonly world: ChatWorld & { readonly trajectory: Trajectory };
  readonly clock: HandClock;
  readonly store: Store | MemoryStore;
  /** Another chat memory of the same world. */
  readonly chat: (options?: ChatMemoryOptions) => ChatMemory;
}

/** A trajectory for chats, with a writ for every space. */
export async function chatWorld({
  store = new MemoryStore(),
  domain: declared = {},
  scopes = ['memory:**'],
}: {
  readonly store?: Store | MemoryStore;
  readonly domain?: ChatDomainOptions;
  readonly scopes?: readonly string[];
} = {}): Promise<ChatWorldForTest> {
  const clock = new HandClock();
  const domain = chatDomain(declared);
  const assize = runtimeOver(store, [domain], { oracle: store, ports: { clock } });
  const trajectory = await assize.create(domain, { trajectoryId: 'chat' });
  const writ = writFor('agent:helper', { actions: ['assize.believe'], scopes: [...scopes] });
  const world = { assize, store, trajectory, writ };
  return {
    world,
    clock,
    store,
    chat: (options = {}) => new ChatMemory(world, { clock, ...options }),
  };
}

/** A model that answers from a list, then with its last answer, and counts its calls. */
export function scripted(...answers: readonly Json[]): Model & { readonly prompts: string[] } {
  const prompts: string[] = [];
  const model: Model = (prompt) => {
    prompts.push(prompt);
    return answers[Math.min(prompts.length, answers.length) - 1]!;
  };
  return Object.assign(model, { prompts });
}
