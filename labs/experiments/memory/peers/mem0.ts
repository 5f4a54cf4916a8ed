import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgeDrift } from './drift.ts';
import { isReplacedBy, type Mem0Memory, openMem0, writeInitialFacts } from './mem0-memory.ts';
import { startMem0Writer } from './mem0-writer.ts';
import { type ModelStub, modelStub } from './model-stub.ts';
import type { PeerFinding, PeerTask } from './peer.ts';

const BOB = 'The manager is Bob';
const CAROL = 'The manager is Carol';
const AT_ONCE = 8;

/** The stub's vote: the operation for a new text, in the form of each version. */
type Vote = 'add' | 'update' | 'none' | 'say it otherwise' | 'replace';

/** A memory of its own, in files of its own. */
interface Mem0 extends Mem0Memory {
  readonly stub: ModelStub;
  readonly place: string;
  vote: Vote;
  /** Everything that it has written. */
  written(): string;
}

/** N1 to N3 of mem0, on the paper’s story: the manager is Bob, and then it is Carol. */
export async function judgeMem0(task: PeerTask): Promise<PeerFinding> {
  let made = 0;
  const begun = async (): Promise<Mem0> => mem0(task, join(task.scratch, `mem0-${++made}-`));
  const found = await (task.peer === 'mem0ai-v2' ? judgeVersion2(begun) : judgeVersion3(begun));
  const { n2, seen } = await judgeRevisions(task, begun);
  return { ...found, n2, seen: [...found.seen, seen] };
}

/** N2, by two processes over the files of one memory. */
async function judgeRevisions(
  task: PeerTask,
  begun: () => Promise<Mem0>,
): ReturnType<typeof judgeDrift> {
  const writers = [startMem0Writer(), startMem0Writer()] as const;
  try {
    return await judgeDrift(async () => {
      const memory = await begun();
      await writeInitialFacts(memory);
      memory.vote = 'replace';
      const { peer, folder } = task;
      for (const writer of writers)
        await writer.open({ peer, folder, place: memory.place, baseURL: memory.stub.baseURL });
      return writers;
    });
  } finally {
    for (const writer of writers) await writer.end();
  }
}

type FoundAlone = Omit<PeerFinding, 'n2'>;

async function judgeVersion2(begun: () => Promise<Mem0>): Promise<FoundAlone> {
  const asked = await begun();
  const [first, again, calls] = await twice(asked, 'none', 'update');
  const rejecting = await begun();
  await rejecting.say(BOB);
  rejecting.vote = 'none';
  await rejecting.say(CAROL);
  const isRejectedKept = rejecting.written().includes(CAROL);
  const replacing = await begun();
  await replacing.say(BOB);
  replacing.vote = 'update';
  await replacing.say(CAROL);
  const isReplacedKept = replacing.written().includes(BOB);
  const together = await begun();
  together.vote = 'update';
  await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => together.say(`${CAROL} ${n}`)));
  const live = (await together.live()).filter((text) => text.startsWith(CAROL)).length;
  return {
    n1: calls > 0 && first !== again ? 'A' : 'X',
    n3: isRejectedKept && isReplacedKept ? 'X' : 'A',
    seen: [
      `The same message again asks the model again (calls: ${calls}): “${first}” is believed after one vote, “${again}” after the other.`,
      `What the judge rejects is ${isRejectedKept ? 'kept' : 'nowhere'}; the text that it replaces is ${isReplacedKept ? 'in the history, without who won or why' : 'nowhere'}.`,
      `Of ${AT_ONCE} that are to replace each other ${live} are believed, as they are said together.`,
    ],
  };
}

async function judgeVersion3(begun: () => Promise<Mem0>): Promise<FoundAlone> {
  const asked = await begun();
  const [first, again, calls] = await twice(asked, 'add', 'say it otherwise');
  const both = await begun();
  await both.say(BOB);
  await both.say(CAROL);
  const live = await both.live();
  const isBoth = live.includes(BOB) && live.includes(CAROL);
  const isLinked =
    (await both.historyOf(BOB)).includes(CAROL) || (await both.historyOf(CAROL)).includes(BOB);
  const together = await begun();
  await Promise.all(Array.from({ length: AT_ONCE }, () => together.say(CAROL)));
  const copies = (await together.live()).filter((text) => text === CAROL).length;
  return {
    n1: calls > 0 && first !== again ? 'A' : 'X',
    n3: isLinked ? 'X' : 'A',
    seen: [
      `The same message again asks the model again (calls: ${calls}): “${first}” is believed after one answer, “${again}” after the other.`,
      `${isBoth ? 'Both of two that contradict each other are believed' : 'Of two that contradict each other one is believed'}, and ${isLinked ? 'one names the other' : 'nothing says that one has lost'}.`,
      `Of ${AT_ONCE} times the same, said together, ${copies} are believed.`,
    ],
  };
}

/**
 * The facts after one message, and after the same message with another vote. The number of calls is
 * that of the repetition.
 */
async function twice(
  memory: Mem0,
  one: Vote,
  other: Vote,
): Promise<[first: string, again: string, calls: number]> {
  await memory.say(BOB);
  memory.vote = one;
  await memory.say(CAROL);
  const first = (await memory.live()).sort().join(', ');
  const before = memory.stub.asked.length;
  memory.vote = other;
  await memory.say(CAROL);
  return [first, (await memory.live()).sort().join(', '), memory.stub.asked.length - before];
}

async function mem0({ peer, folder }: PeerTask, place: string): Promise<Mem0> {
  const said = { vote: 'add' as Vote };
  const stub = await modelStub((prompt) =>
    (peer === 'mem0ai-v2' ? answerOf2 : answerOf3)(prompt, said.vote),
  );
  return {
    ...openMem0({ peer, folder, place, baseURL: stub.baseURL }),
    place,
    stub,
    get vote() {
      return said.vote;
    },
    set vote(vote) {
      said.vote = vote;
    },
    // Some versions keep the message itself for a while. That is not what is believed.
    written: () => filesAt(place).replaceAll(/<<.*?>>/g, ''),
  };
}

function filesAt(place: string): string {
  const folder = join(place, '..');
  const names = readdirSync(folder).map((name) => join(folder, name));
  return names
    .filter((name) => name.startsWith(place))
    .map((name) => readFileSync(name, 'latin1'))
    .join('\n');
}

/** Version 2 asks for facts first, and then what is to become of each. */
function answerOf2(prompt: string, vote: Vote): string {
  const [, text] = /<<(.*?)>>/.exec(prompt) ?? [];
  if (text !== undefined) return JSON.stringify({ facts: [text] });
  const [, facts] = /in the memory\.\s*(\[[^\]]*\])\s*Follow/.exec(prompt) ?? [];
  if (facts === undefined)
    throw new Error('The judge is asked in another form than that of the version that is pinned.');
  const [fact = ''] = JSON.parse(facts) as string[];
  const [, before = '[]'] = /format only:\s*(\[[^\]]*\])\s*The new/.exec(prompt) ?? [];
  const known = JSON.parse(before) as readonly { readonly id: string; readonly text: string }[];
  const isIn = vote === 'replace' ? known.find((one) => isReplacedBy(one.text, fact)) : known[0];
  const event = {
    add: 'ADD',
    update: 'UPDATE',
    replace: 'UPDATE',
    none: 'NONE',
    'say it otherwise': 'ADD',
  }[vote];
  const isAdded = event === 'UPDATE' && isIn === undefined;
  return JSON.stringify({
    memory: [
      {
        id: isIn?.id ?? '0',
        text: fact,
        event: isAdded ? 'ADD' : event,
        old_memory: isIn?.text ?? '',
      },
    ],
  });
}

/** Version 3 asks once, and adds what is answered. */
function answerOf3(prompt: string, vote: Vote): string {
  const text = [...prompt.matchAll(/<<(.*?)>>/g)].at(-1)?.[1] ?? '';
  return JSON.stringify({
    memory: [{ id: '0', text: vote === 'say it otherwise' ? `${text}, they say` : text }],
  });
}
