import { ChatMemory, chatDomain, chatMemory, estimateTokens } from '#chat';
import { chatWorld } from '../../support/chat/chat-world.ts';
import { START } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, PORT, takes } from './table.ts';

const LIVES = {
  message: 1,
  subject: 'ida',
  predicate: 'lives in',
  object: 'NYC',
  confidence: 1,
  from: START,
};
const MESSAGE = {
  role: 'user',
  content: 'I live in NYC.',
  name: 'ida',
  id: 'm1',
  at: START,
  metadata: { thread: 't1' },
};
const WORLD = {
  '0.assize': PORT,
  '0.store': PORT,
  '0.trajectory': PORT,
  '0.writ': 'checked with each proposal',
};
const CODE = { '1.model': PORT, '1.countTokens': PORT, '1.clock': PORT, '1.mayRead': PORT };

const options = () => ({
  theta: { model_version: '1' },
  space: 'chat',
  aliases: { names: { 'New York City': ['NYC'] }, predicates: { 'lives in': ['home city'] } },
  by: 'text',
  countTokens: (text: string) => text.length,
  principal: 'agent:helper',
});

async function begun() {
  const { chat, store } = await chatWorld();
  const memory = chat();
  await memory.remember([{ role: 'user', content: 'I live in Bonn.', at: START }], {
    facts: [LIVES],
  });
  const { facts } = await memory.recall();
  // A proposal may be recorded as rejected. The facts do not change by that.
  const watch = async (): Promise<string> =>
    JSON.stringify(await store.facts({ space: 'chat', kind: 'all' }));
  return { memory, fact: facts[0]!, watch };
}

type Made = Awaited<ReturnType<typeof begun>>;

function on(
  call: (made: Made, ...args: any[]) => unknown,
  args: readonly unknown[] | ((made: Made) => readonly unknown[]),
  trusted: Case['trusted'] = {},
): Case {
  return {
    trusted,
    make: async () => {
      const made = await begun();
      const given = typeof args === 'function' ? args(made) : args;
      return { args: given, call: (...all) => call(made, ...all), watch: made.watch };
    },
  };
}

async function overWorld(
  call: (world: any, options: any) => unknown,
): Promise<Awaited<ReturnType<Case['make']>>> {
  const { world } = await chatWorld();
  return { args: [world, options()], call };
}

export const CHAT: Readonly<Record<string, Case | Exempt>> = {
  'new ChatMemory': {
    make: () => overWorld((world, given) => new ChatMemory(world, given)),
    trusted: { ...WORLD, ...CODE },
  },
  chatMemory: { make: () => overWorld(chatMemory), trusted: { ...WORLD, ...CODE } },
  chatDomain: takes(chatDomain as never, () => [
    {
      name: 'talk',
      version: '2',
      predicates: {
        likes: { cardinality: 'multi-valued', strategy: 'lww', description: 'a taste' },
      },
      counselors: { person: () => true },
    },
  ]),
  estimateTokens: takes(estimateTokens, ['some words']),
  'ChatMemory.remember': on(
    ({ memory }, messages, given) => memory.remember(messages, given),
    [
      [MESSAGE],
      {
        space: 'chat',
        user: 'ida',
        metadata: { channel: 'mail' },
        at: START,
        key: 'k',
        facts: [LIVES],
        basedOn: [],
      },
    ],
  ),
  'ChatMemory.recall': on(
    ({ memory }, question, given) => memory.recall(question, given),
    [
      'Where does Ida live?',
      {
        spaces: ['chat'],
        user: 'ida',
        at: START,
        asOf: START,
        filter: {
          subjects: ['ida'],
          predicates: ['lives in'],
          metadata: { channel: 'mail' },
          during: { from: START, to: '2026-12-01T00:00:00.000000Z' },
          confidenceMin: 0.5,
          trust: { approver: 'grace' },
        },
        limit: 5,
        budget: 100,
        signal: new AbortController().signal,
      },
    ],
  ),
  'ChatMemory.aliases': on(
    ({ memory }, of) => memory.aliases(of),
    [{ space: 'chat', user: 'ida' }],
  ),
  'ChatMemory.declareAlias': on(
    ({ memory }, input) => memory.declareAlias(input),
    [{ alias: 'NYC', name: 'New York City', of: 'name', space: 'chat', user: 'ida' }],
  ),
  'ChatMemory.removeAlias': on(
    ({ memory }, input) => memory.removeAlias(input),
    [{ alias: 'NYC', name: 'New York City', of: 'name', space: 'chat', user: 'ida' }],
  ),
  'ChatMemory.proposeAliases': exempt('needs a model; its argument is that of ChatMemory.aliases'),
  'ChatMemory.repair': on(
    ({ memory }, fact, given) => memory.repair(fact, given),
    ({ fact: { id, space } }) => [{ id, space }, { apply: false }],
  ),
};
