// Two agents share one budget. The ledger enforces it, and the run replays without a model.

import { type Agent, replayRun, runAgents } from '@assize/agents';
import {
  Assize,
  attenuate,
  createOracle,
  defineDomain,
  generateKeys,
  issueWrit,
  openStore,
  systemClock,
} from 'assize';
import { z } from 'zod';

const research = defineDomain({
  name: 'research',
  version: '1',
  state: z.object({ answers: z.record(z.string(), z.string()) }),
  initial: { answers: {} },
  processes: { answering: { reads: ['/answers/*'], writes: ['/answers/*'] } },
  roles: { researcher: { processes: ['answering'] } },
  actions: {
    answer: {
      process: 'answering',
      args: z.object({ question: z.string(), text: z.string() }),
      cost: () => ({ calls: 1 }), // The budget that a commit spends.
      apply: (state, { question, text }) => {
        state.answers[question] = text;
      },
    },
  },
  invariants: [],
});

// The lead holds a writ of three calls, and signs a writ of two calls for each agent.
const root = generateKeys(new Uint8Array(32).fill(1));
const lead = generateKeys(new Uint8Array(32).fill(2));
const grant = {
  trajectory: 'run',
  actions: ['answer'],
  scopes: ['role:researcher'],
  budget: { calls: 3 },
};
const period = {
  not_before: '2026-01-01T00:00:00.000000Z',
  expires: '2100-01-01T00:00:00.000000Z',
};
const terms = {
  issuer: root.publicKey,
  subject: lead.publicKey,
  max_depth: 1,
  nonce: 'lead',
  ...grant,
  ...period,
};
const parent = issueWrit(terms, root.privateKey);

/** An agent sees the slice of its role. The oracle answers its questions and records them. */
function agent(
  name: string,
  questions: readonly string[],
  model: (prompt: string) => string,
): Agent {
  const writ = attenuate(
    parent,
    { subject: `agent:${name}`, budget: { calls: 2 }, nonce: name },
    lead.privateKey,
  );
  return {
    name,
    role: { name: 'researcher', params: {} },
    writ: { writ, chain: [parent] },
    async decide({ answers }: { answers: Record<string, string> }, oracle) {
      const question = questions.find((each) => answers[each] === undefined);
      if (question === undefined) return 'done';
      const text = await oracle.ask({ request: { prompt: question }, call: () => model(question) });
      return { action: 'answer', args: { question, text } };
    },
  };
}
const agents = (model: (prompt: string) => string) => [
  agent('ada', ['Who wrote Emma?', 'Who wrote Faust?'], model),
  agent('ben', ['Who wrote Ulysses?', 'Who wrote Walden?'], model),
];

const store = await openStore('memory:');
const assize = new Assize({ store, oracle: store, domains: [research], anchors: [root.publicKey] });
const trajectory = await assize.create(research, { trajectoryId: 'run', writs: [parent] });
// A real model answers here.
const writers: Record<string, string> = { Emma: 'Austen', Faust: 'Goethe', Ulysses: 'Joyce' };
const model = (prompt: string) => writers[/wrote (\w+)/.exec(prompt)?.[1] ?? ''] ?? 'unknown';

const stop = new AbortController();
const report = await runAgents(trajectory, agents(model), {
  oracle: createOracle({ store, clock: systemClock, mode: 'record' }),
  signal: stop.signal,
  onTurn: ({ turn, ruling }) => {
    console.log(
      'agent' in turn && turn.agent,
      ruling?.ruling === 'rejected' ? ruling.reason : ruling?.ruling,
    );
    if (ruling?.ruling === 'rejected') stop.abort(); // The budget is spent: the run ends after this turn.
  },
});
console.log(`${report.ended} after ${report.turns} turns:`, JSON.stringify(trajectory.state()));

// The replay has no model. Answers come from the oracle log, and the entries are the same bytes.
const silent = agents(() => {
  throw new Error('The replay asked the model.');
});
const recorded = { store, oracleStore: store, trajectoryId: 'run' };
const replay = await replayRun(recorded, research, silent, { anchors: [root.publicKey] });
console.log('replay is the same:', replay.same, 'turns:', replay.turns);
await store.close();
