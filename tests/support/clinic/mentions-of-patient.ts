import { expect } from 'vitest';
import type { Instant } from '#canon';
import type { Memory, Ruling, Trajectory } from '#runtime';
import { type HandClock, intent, writFor } from '../ledger/runtime.ts';

/** The subject of the facts to erase. */
export const WHO = 'Zoë Ångström';

const writ = writFor('nurse');
const doctor = { principal: 'dr house', method: 'test' };
const day = (text: string): Instant => `${text}T00:00:00.000000Z`;

/** A trajectory of the clinic (`clinic.ts`), and its memory of the space `ward`. */
interface Ward {
  readonly clock: HandClock;
  readonly trajectory: Trajectory;
  readonly memory: Memory;
}

/** The values asserted about her, in every possible way. */
export const SECRETS = [
  ...['penizillin 500', 'amoxicillin 2x', 'ibuprofen forte'],
  ...['81.3 kg', '79.4 kg', '97.5 kg', '80.6 kg'],
  ...['influenza of hers', 'pneumonia of hers', 'measles of hers', 'gout of hers'],
  ...['never declared', 'too sure', 'mistyped', 'stamped', 'a letter of hers', 'not for visitors'],
  WHO,
];

/** Words of it, each by itself, as an index has them: those that nothing else on a server has. */
export const WORDS: readonly string[] = [
  ...[
    'penizillin',
    'amoxicillin',
    'ibuprofen',
    'influenza',
    'pneumonia',
    'measles',
    '81.3',
    '79.4',
    '97.5',
  ],
  ...['Ångström', 'angstrom', 'mistyped'],
];

/** Says all of it. */
export async function told({ clock, trajectory, memory }: Ward): Promise<void> {
  const of = (predicate: string, object: string) => ({ subject: WHO, predicate, object });
  const next = () => clock.forward(1_000);
  await committed(
    memory.assert(
      {
        ...of('drug', 'penizillin 500'),
        valid: { from: day('2026-03-01') },
        source: `letter of ${WHO}`,
      },
      { observations: [{ name: 'letter', value: 'a letter of hers', sensitive: true }] },
    ),
  );
  next();
  await committed(memory.change({ ...of('drug', 'amoxicillin 2x'), from: day('2026-04-15') }));
  next();
  await committed(
    memory.correct({
      ...of('drug', 'ibuprofen forte'),
      valid: { from: day('2026-03-05'), to: day('2026-03-10') },
    }),
  );
  for (const [object, confidence] of [
    ['81.3 kg', 0.6],
    ['79.4 kg', 0.9],
    ['97.5 kg', 0.1],
  ] as const) {
    next();
    await committed(memory.assert({ ...of('weight', object), confidence }));
  }
  next();
  await committed(
    trajectory.propose({
      ...intent('visit', { patient: WHO, weight: '80.6 kg' }, writ),
      role: 'nurse',
    }),
  );
  await committed(
    memory.assert({ ...of('diagnosis', 'influenza of hers'), valid: { from: day('2026-03-01') } }),
  );
  next();
  const since = { valid: { from: day('2026-03-01') } };
  const asked = (object: string) =>
    memory.assert({ ...of('diagnosis', object), ...since }) as Promise<
      Ruling & { pending: string }
    >;
  const approved = await asked('pneumonia of hers');
  const [question] = await trajectory.approvals.questionsOf(approved.pending);
  const winner = question!.members.find(({ object }) => object === 'pneumonia of hers')!.claim;
  next();
  await committed(
    trajectory.approvals.approve(approved.pending, {
      ...doctor,
      answers: [{ request: question!.request, winner }],
    }),
  );
  next();
  const rejected = await asked('measles of hers');
  await refused(
    trajectory.approvals.reject(rejected.pending, { ...doctor, reason: 'no' }),
    'counselor_rejected',
  );
  expect(await asked('gout of hers')).toMatchObject({ ruling: 'escalated' });
  next();
  const say = (...sayings: object[]) =>
    trajectory.propose(intent('assize.believe', { sayings }, writ));
  const assert = { verb: 'assert', space: 'ward' };
  await refused(say({ ...assert, ...of('shoe size', 'never declared') }), 'precondition_failed');
  await refused(say({ ...assert, ...of('drug', 'too sure'), confidence: 7 }), 'type_mismatch');
  await refused(say({ ...assert, says: { [`of ${WHO}`]: 'too sure' } }), 'type_mismatch');
  await refused(
    say({ ...assert, ...of('drug', 'stamped'), strategy: 'evi' }),
    'precondition_failed',
  );
  await refused(
    trajectory.propose(intent('vist', { patient: `${WHO}: mistyped` }, writ)),
    'unknown_tool',
  );
  const visitor = writFor('visitor', { scopes: ['role:nurse'] });
  const visit = {
    ...intent('visit', { patient: WHO, weight: 'not for visitors' }, visitor),
    role: 'nurse',
  };
  await refused(trajectory.propose(visit), 'invalid_authority');
  await refused(
    trajectory.propose({
      ...intent('visit', { patient: WHO, weigth: 'mistyped' }, writ),
      role: 'nurse',
    }),
    'type_mismatch',
  );
  await others(trajectory, memory);
}

/** Assertions about others, by a writer that has recalled the facts about her. */
async function others(trajectory: Trajectory, memory: Memory): Promise<void> {
  const hers = (await memory.recall({ subject: WHO })).observation;
  const all = (await memory.recall({ valid: 'any' })).observation;
  for (const [object, observation] of [
    ['of p8', hers],
    ['more of p8', all],
  ] as const)
    await committed(
      memory.assert(
        { subject: 'p8', predicate: 'allergy', object },
        { observations: [observation] },
      ),
    );
  const his = (await memory.recall({ subject: 'p8' })).observation;
  await committed(
    memory.assert({ subject: 'p9', predicate: 'drug', object: 'of p9' }, { observations: [his] }),
  );
  await committed(
    trajectory.propose({
      ...intent('visit', { patient: 'p9', weight: '70 kg' }, writ),
      role: 'nurse',
    }),
  );
}

export async function committed<R extends Ruling>(
  said: Promise<R>,
): Promise<R & { ruling: 'committed' }> {
  const ruling = await said;
  expect(ruling).toMatchObject({ ruling: 'committed' });
  return ruling as R & { ruling: 'committed' };
}

async function refused(said: Promise<Ruling>, reason: string): Promise<void> {
  expect(await said).toMatchObject({ ruling: 'rejected', reason });
}
