/** Statements of each verb and strategy, and every way to read the facts. */

import { START } from '../../../support/ledger/runtime.ts';
import { DOCTOR, MOVE, type Stage } from '../stage.ts';

export async function memories(stage: Stage): Promise<void> {
  const { hands, assize, trajectory, propose, approve, writs, clock } = stage;
  const memory = trajectory.memory({ space: 'ward', writ: writs.clerk });
  const said = (predicate: string, object: string, source: string) => ({
    subject: 'ann',
    predicate,
    object,
    source,
  });
  const fact = await memory.assert(said('weight', '70 kg', 's1'));
  await memory.assertMany([said('triage', 'red', 's2')]);
  await memory.assertMany([said('triage', 'green', 's3')]);
  await memory.assert(said('diagnosis', 'flu', 's4'));
  const doubt = await memory.assert(said('diagnosis', 'cold', 's5'));
  await memory.assertEach([said('weight', '70 kg', 's6')]);
  await memory.restingOn({ source: 's1' });
  await memory.withdraw({ source: 's2' });
  await memory.wasAsserted(said('weight', '70 kg', 's1'));
  await memory.assert({ ...said('weight', '70 kg', 's1'), confidence: 7 }).catch(() => undefined);
  clock.forward(1_000);
  const then = { from: START, to: clock.at };
  await memory.change({ subject: 'ann', predicate: 'weight', object: '71 kg' });
  await memory.correct({ subject: 'ann', predicate: 'weight', object: '72 kg', valid: then });
  await memory.retract({ subject: 'bob', predicate: 'weight', valid: then });
  for (const view of [memory, assize.memory('ward'), assize.memory('ward', 'shop'), memory])
    await read(view, clock.at);
  const recalled = await memory.recall();
  await propose('move', MOVE, { observations: [recalled.observation] });
  await assize.dependents(fact.entry.id);
  const [question] = await trajectory.approvals.questionsOf(doubt.pending);
  await trajectory.approvals.questionsOf(doubt.pending);
  const answers = [{ request: question.request, winner: question.members[0].claim }];
  await approve(doubt.pending, { ...DOCTOR, answers });
  hands.useKeptViews();
}

async function read(view: any, now: string): Promise<void> {
  void view.space;
  await view.recall();
  await view.recall({ text: 'flu', by: 'hybrid' });
  await view.recall({ kind: 'audit', valid: 'any', system: 'any' });
  await view.embed();
  const history = await view.history();
  await view.keys({ text: 'w', after: { subject: 'a', predicate: 'a' } });
  await view.diff({ valid: START, system: START }, { valid: now, system: now });
  await view.explain(history[0]);
  await view.sources([history[0]]);
  await view.dependents(history[0]);
  await view.restingOn({ source: 's1' });
}
