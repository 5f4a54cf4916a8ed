/** A run of an agent with an arbiter and a counselor, its replay, and the reading of messages. */
import { operator, START } from '../../../support/ledger/runtime.ts';
import { ROLE, type Stage } from '../stage.ts';

export async function runs(stage: Stage): Promise<void> {
  const { hands, on, library, store, clock, domain, policy, trajectory, oracle } = stage;
  const agent = agentOf(stage);
  await library.runAgents(hands.raw(trajectory), [agent], {
    oracle,
    clock,
    random: library.seededRandom('run'),
    arbiter: on('RunOptions.arbiter', async (candidates: readonly string[]) => candidates[0]!),
    counsel: on('RunOptions.counsel', () => ({
      do: 'approve' as const,
      principal: 'manager:mia',
      method: 'test',
    })),
    onTurn: on('RunOptions.onTurn', () => undefined),
  });
  const source = { store, oracleStore: store, trajectoryId: 'shop' };
  await library.replayRun(source, domain, [agentOf(stage)], {
    anchors: [operator.publicKey],
    policy,
  });
  hands.useKeptViews();
}

function agentOf(stage: Stage): any {
  const { on, writs } = stage;
  let turns = 0;
  return {
    name: 'agent',
    role: ROLE,
    writ: writs.clerk,
    decide: on('Agent.decide', async (slice: any, oracle: any) => {
      await consult(stage, slice, oracle);
      turns++;
      if (turns === 1) return { action: 'pay', args: { to: 'bob', cents: 650 } };
      if (turns < 4)
        return { action: 'move', args: { from: 'ann', to: 'bob', cents: turns, tags: ['agent'] } };
      return turns === 4 ? 'wait' : 'done';
    }),
  };
}

async function consult(
  { hands, on, library, domain }: Stage,
  slice: any,
  oracle: any,
): Promise<void> {
  const asked = (name: string): ((...args: any[]) => any) =>
    hands.library(`AgentOracle.${name}`, oracle[name]);
  const call = on('AgentQuestion.call', () => ({ of: [1, 2] }));
  await asked('ask')({ name: 'asked', request: { desks: slice.desks.d1 }, call });
  await asked('calls')();
  await asked('now')();
  await asked('random')(4);
  const messages = [{ id: 'm1', author: 'ann', text: 'Ann weighs 70 kg.', at: START }];
  const { predicates } = domain.memory!;
  const model = on('Model', async () => ({ facts: [] }));
  const terms = { model, predicates, subjects: 'any' as const };
  await library.assertMessages(messages, oracle, { ...terms, space: 'ward' });
}

/** Facts from messages outside of a run. */
export async function messages({ on, library, domain, oracle }: Stage): Promise<void> {
  const { predicates } = domain.memory!;
  const model = on('Model', async () => ({
    facts: [{ message: 1, subject: 'ann', predicate: 'weight', object: '70 kg', confidence: 1 }],
  }));
  const read = [{ id: 'm1', author: 'ann', text: 'Ann weighs 70 kg.', at: START }];
  const options = { oracle, trajectory: 'shop', model, predicates, subjects: 'any' as const };
  await library.extractFacts(read, options);
  await library.extractFacts(read, options);
}
