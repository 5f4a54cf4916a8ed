import fc from 'fast-check';
import type { Agent, AgentOracle } from '#agents';
import type { Writ } from '#authority';
import type { Json } from '#base';
import { writFor } from '../ledger/runtime.ts';
import { digest } from './digest.ts';
import { EVILS, type Evil, intentOf, type NaiveAction, naiveAction } from './generated-domain.ts';

// Agents made of data: their questions and their possible proposals. Their behaviour depends on
// slice and answers alone.

export type Ask = 'model' | 'clock' | 'random' | 'both';

export interface AgentSpec {
  readonly asks: readonly Ask[];
  readonly moves: readonly [NaiveAction, ...NaiveAction[]];
  readonly evil: Evil;
  readonly salt: number;
}

const evil = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Evil>('nothing') },
  { weight: 1, arbitrary: fc.constantFrom<Evil[]>(...EVILS) },
);

/** All moves of an agent are of one role. */
const moves = fc
  .array(naiveAction, { minLength: 1, maxLength: 4 })
  .map(
    (drawn) => drawn.filter((move) => roleKey(move) === roleKey(drawn[0] as NaiveAction)) as never,
  );

export const agentSpec: fc.Arbitrary<AgentSpec> = fc.record({
  asks: fc.array(fc.constantFrom<Ask[]>('model', 'model', 'clock', 'random', 'both'), {
    maxLength: 3,
  }),
  moves,
  evil,
  salt: fc.nat(1000),
});

export const population: fc.Arbitrary<AgentSpec[]> = fc.array(agentSpec, {
  minLength: 1,
  maxLength: 4,
});

function roleKey(move: NaiveAction): string {
  return JSON.stringify(intentOf(move).role);
}

/** Answers to the agents' questions. Every answer is different. */
export type Outside = (request: Json) => Promise<Json>;

/** The agent of a specification. `outside` answers its calls. */
export function agentOf(spec: AgentSpec, n: number, outside: Outside): Agent {
  const name = `agent ${n}`;
  return {
    name,
    role: intentOf(spec.moves[0]).role,
    writ: writOf(name),
    async decide(slice, oracle) {
      const answers: unknown[] = [];
      for (const ask of spec.asks) answers.push(await answerTo(ask, oracle, outside));
      const chance = digest([spec.salt, slice, answers]) >>> 16;
      if (chance % 16 === 0) return 'done';
      if (chance % 16 < 3) return 'wait';
      const { action, args } = intentOf(
        spec.moves[chance % spec.moves.length] as NaiveAction,
        spec.evil,
      );
      return { action, args };
    },
  };
}

const writs = new Map<string, Writ>();

/** Signed once. */
function writOf(name: string): Writ {
  const writ = writs.get(name) ?? writFor(name);
  writs.set(name, writ);
  return writ;
}

async function answerTo(ask: Ask, oracle: AgentOracle, outside: Outside): Promise<unknown> {
  const model = () => oracle.ask({ request: 'what now?', call: () => outside('what now?') });
  if (ask === 'clock') return oracle.now();
  if (ask === 'random') return [...(await oracle.random(2))];
  return ask === 'model' ? model() : Promise.all([model(), oracle.now(), model()]);
}
