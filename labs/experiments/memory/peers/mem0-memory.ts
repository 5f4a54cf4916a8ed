import { BEGUN, BELIEVED_FIRST, type MemoryContents, type Reviser } from './drift.ts';
import { load } from './loading.ts';
import { STUB_DIMENSIONS } from './model-stub.ts';
import type { PeerTask } from './peer.ts';

const USER = 'stub';
const MANAGER = 'The manager is ';
const BELIEF = 'It is believed that the manager is ';

/** A memory of mem0 in its own files. Several may open them. */
export interface Mem0Place {
  readonly peer: PeerTask['peer'];
  readonly folder: string;
  /** The prefix of its file names. */
  readonly place: string;
  /** Of the stub. */
  readonly baseURL: string;
}

export interface Mem0Memory extends Reviser {
  /** Says it in a message; the stub finds just that in it. */
  say(text: string, confidence?: number): Promise<void>;
  live(): Promise<string[]>;
  historyOf(text: string): Promise<string>;
}

interface Kept {
  readonly id: string;
  readonly memory: string;
  readonly metadata?: { readonly confidence?: number };
}

export function openMem0({ peer, folder, place, baseURL }: Mem0Place): Mem0Memory {
  const isOld = peer === 'mem0ai-v2';
  const { Memory } = load(folder, `${peer}/oss`, isOld);
  const service = { apiKey: 'none', baseURL, model: 'stub' };
  const memory = new Memory({
    version: 'v1.1',
    llm: { provider: 'openai', config: service },
    embedder: { provider: 'openai', config: { ...service, embeddingDims: STUB_DIMENSIONS } },
    vectorStore: {
      provider: 'memory',
      config: { collectionName: 'stub', dimension: STUB_DIMENSIONS, dbPath: `${place}vectors.db` },
    },
    historyStore: { provider: 'sqlite', config: { historyDbPath: `${place}history.db` } },
  });
  const user = isOld ? { userId: USER } : { filters: { user_id: USER } };
  const all = async (): Promise<readonly Kept[]> => (await memory.getAll(user)).results;
  const say = async (text: string, confidence?: number): Promise<void> => {
    const more = confidence === undefined ? {} : { metadata: { confidence } };
    await memory.add([{ role: 'user', content: `<<${text}>>` }], { userId: USER, ...more });
  };
  let read: readonly Kept[] = [];
  // Version 2 changes the metadata of a text only by a message. Its judge, a stub, replaces the
  // similar text.
  const change = async (
    text: string,
    isIt: (one: Kept) => boolean,
    to: object,
    confidence?: number,
  ): Promise<void> => {
    if (isOld) await say(text, confidence);
    else await memory.update(read.find(isIt)?.id, to);
  };
  return {
    say,
    live: async () => (await all()).map((one) => one.memory),
    historyOf: async (text) => {
      const found = (await all()).find((one) => one.memory === text);
      return found === undefined ? '' : JSON.stringify(await memory.history(found.id));
    },
    read: async () => {
      read = await all();
      return heldIn(read);
    },
    revise: (who, confidence) => {
      const text = MANAGER + who;
      return change(text, (one) => one.memory === text, { metadata: { confidence } }, confidence);
    },
    believe: (who) => change(BELIEF + who, isBelief, { text: BELIEF + who }),
  };
}

/** Writes the initial state of N2. */
export async function writeInitialFacts(memory: Mem0Memory): Promise<void> {
  for (const [who, confidence] of Object.entries(BEGUN))
    await memory.say(MANAGER + who, confidence);
  await memory.say(BELIEF + BELIEVED_FIRST);
}

/**
 * Whether the new text replaces the earlier one: both are the same, or both name the current fact.
 */
export function isReplacedBy(before: string, text: string): boolean {
  return before === text || (before.startsWith(BELIEF) && text.startsWith(BELIEF));
}

function isBelief({ memory }: Kept): boolean {
  return memory.startsWith(BELIEF);
}

function heldIn(kept: readonly Kept[]): MemoryContents {
  const confidences = kept.flatMap(({ memory, metadata }): [string, number][] =>
    memory.startsWith(MANAGER) && metadata?.confidence !== undefined
      ? [[memory.slice(MANAGER.length), metadata.confidence]]
      : [],
  );
  const believed = kept.find(isBelief)?.memory.slice(BELIEF.length);
  return {
    confidences: Object.fromEntries(confidences.sort()),
    ...(believed !== undefined && { believed }),
  };
}
