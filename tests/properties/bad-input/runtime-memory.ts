import { MemoryStore } from '@assize/testing/memory';
import { writId } from '#authority';
import { clinic } from '../../support/clinic/clinic.ts';
import { HandClock, runtimeOver, START, writFor } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { exempt } from './table.ts';

const writ = writFor('nurse');
const EARLIER = '2026-03-01T00:00:00.000000Z';
const about = { subject: 'p7', predicate: 'drug' };
const whole = { from: EARLIER, to: START };
const claim = {
  ...about,
  ...{ object: 'aspirin', confidence: 1, source: 'letter', valid: whole },
  metadata: { channel: 'mail' },
};
const options = {
  idempotencyKey: 'k',
  observations: [{ name: 'seen', value: 1, sensitive: true }],
};

async function ward() {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [clinic], { ports: { clock: new HandClock() } });
  const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
  const memory = trajectory.memory({ space: 'ward', writ });
  await memory.assert({ ...about, object: 'ibuprofen' });
  const [fact] = (await memory.recall(about)).facts;
  // A proposal may be recorded as rejected. The facts do not change by that.
  const watch = async (): Promise<string> =>
    JSON.stringify(await store.facts({ space: 'ward', kind: 'all' }));
  return { store, assize, trajectory, memory, fact: fact as NonNullable<typeof fact>, watch };
}

type Made = Awaited<ReturnType<typeof ward>>;

function on(
  call: (made: Made, ...args: any[]) => unknown,
  args: readonly unknown[] | ((made: Made) => readonly unknown[] | Promise<readonly unknown[]>),
  trusted: Case['trusted'] = {},
): Case {
  return {
    trusted,
    make: async () => {
      const made = await ward();
      const given = typeof args === 'function' ? await args(made) : args;
      return { args: given, call: (...all) => call(made, ...all), watch: made.watch };
    },
  };
}

export const RUNTIME_MEMORY: Readonly<Record<string, Case | Exempt>> = {
  'Assize.memory': on(({ assize }, space) => assize.memory(space), ['ward']),
  'Assize.dependents': on(
    ({ assize }, id) => assize.dependents(id),
    ({ fact }) => [fact.entry_id],
  ),
  'Trajectory.memory': on(
    ({ trajectory }, given) => trajectory.memory(given),
    [{ space: 'ward', writ: writId(writ), principal: 'nurse' }],
  ),
  'Approvals.questionsOf': on(
    ({ trajectory }, id) => trajectory.approvals.questionsOf(id),
    async ({ memory }) => {
      const asked = { subject: 'p7', predicate: 'diagnosis' };
      await memory.assert({ ...asked, object: 'flu' });
      const ruling = await memory.assert({ ...asked, object: 'cold' });
      return [ruling.ruling === 'escalated' ? ruling.pending : ''];
    },
  ),
  'new Memory': exempt('made by Trajectory.memory'),
  'new MemoryView': exempt('made by Assize.memory'),
  'Memory.assert': on(({ memory }, said, rest) => memory.assert(said, rest), [claim, options]),
  'Memory.assertMany': on(
    ({ memory }, said, rest) => memory.assertMany(said, rest),
    [[claim], options],
  ),
  'Memory.assertEach': on(
    ({ memory }, said, rest) => memory.assertEach(said, rest),
    [[claim], { observations: [] }],
  ),
  'Memory.withdraw': on(
    ({ memory }, what, rest) => memory.withdraw(what, rest),
    [{ source: 's', ...about }, { observations: [] }],
  ),
  'MemoryView.restingOn': on(({ memory }, what) => memory.restingOn(what), [{ source: 's' }]),
  'Memory.wasAsserted': on(({ memory }, said) => memory.wasAsserted(said), [claim]),
  'Memory.change': on(
    ({ memory }, said, rest) => memory.change(said, rest),
    [{ ...about, object: 'aspirin', from: START }, options],
  ),
  'Memory.correct': on(
    ({ memory }, said, rest) => memory.correct(said, rest),
    [{ ...claim, was: 'ibuprofen' }, options],
  ),
  'Memory.retract': on(
    ({ memory }, said, rest) => memory.retract(said, rest),
    [{ ...about, valid: whole, object: 'ibuprofen' }, options],
  ),
  'Memory.erase': on(
    ({ memory }, place) => memory.erase(place),
    ({ fact }) => [
      {
        ...about,
        claim: fact.lineage,
        reason: 'asked for',
        writ: writId(writ),
        principal: 'nurse',
      },
    ],
  ),
  'MemoryView.recall': on(
    ({ memory }, query) => memory.recall(query),
    [
      {
        ...about,
        valid: START,
        system: START,
        kind: 'all',
        relation: { to: whole, is: ['before', 'meets'] },
        limit: 5,
        text: 'ibuprofen',
        by: 'text',
        signal: new AbortController().signal,
      },
    ],
  ),
  'MemoryView.embed': exempt('needs an embedder; memory.test.ts gives it what nobody should'),
  'MemoryView.history': on(
    ({ memory }, query) => memory.history(query),
    [{ ...about, kind: 'all', limit: 5 }],
  ),
  'MemoryView.keys': on(
    ({ memory }, query) => memory.keys(query),
    [{ text: 'drug', after: { subject: 'p7', predicate: 'allergy' }, limit: 5 }],
  ),
  'MemoryView.diff': on(
    ({ memory }, from, to, of) => memory.diff(from, to, of),
    [{ valid: START, system: EARLIER }, { valid: START, system: START }, about],
  ),
  'MemoryView.sources': on(
    ({ memory }, facts) => memory.sources(facts),
    ({ fact: { provenance_id } }) => [[{ provenance_id }]],
  ),
  'MemoryView.dependents': on(
    ({ memory }, fact) => memory.dependents(fact),
    ({ fact: { subject, predicate, fact_id, system_time_start } }) => [
      { subject, predicate, fact_id, system_time_start },
    ],
  ),
  'MemoryView.explain': on(
    ({ memory }, fact) => memory.explain(fact),
    ({ fact: { subject, predicate, fact_id, system_time_start } }) => [
      { subject, predicate, fact_id, system_time_start },
    ],
  ),
};
