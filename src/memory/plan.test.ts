import { describe, expect, test } from 'vitest';
import { errorOf } from '../../tests/support/error-of.ts';
import { readWitness } from './audit.ts';
import type { FactRow } from './fact.ts';
import { OPEN_END } from './period.ts';
import {
  type Ask,
  type Assertion,
  checkOpen,
  type Plan,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  systemTime,
  type Writing,
} from './plan.ts';
import { declarePredicate, type Remainder } from './predicate.ts';
import { answerOf } from './question.ts';
import { applyPlan, asOf } from './read.ts';
import type { Strategy } from './strategy.ts';

const codeOf = (call: () => unknown): unknown => (errorOf(call) as { code?: unknown }).code;
const partition = { space: 'clinic', subject: 'alice', predicate: 'medication' };
const date = (text: string): string => `2026-${text}T00:00:00.000000Z`;
const merge = (a: string, b: string): string => [...a.split('+'), ...b.split('+')].sort().join('+');

/** Rows of one partition, and plans carried out on them. */
class Notebook {
  rows: readonly FactRow[] = [];
  last: Plan | undefined;
  readonly #declaration;
  #seq = 0;

  constructor(strategy: Strategy, more: { remainder?: Remainder; cardinality?: 'multi-valued' } = {}) {
    this.#declaration = declarePredicate({ cardinality: 'single-valued', strategy, ...more });
  }

  writing(at: string, more: Partial<Writing> = {}): Writing {
    return {
      partition,
      declaration: this.#declaration,
      open: this.open,
      latest: null,
      at,
      seq: this.#seq,
      merge,
      ...more,
    };
  }

  get open(): FactRow[] {
    return this.rows.filter((row) => row.row_kind === 'current' && row.system_time_end === OPEN_END);
  }

  write(at: string, planned: (writing: Writing) => Plan | Ask): Plan {
    const plan = planned(this.writing(at));
    if (plan.kind === 'ask') throw new Error('it asks');
    this.rows = applyPlan(this.rows, plan);
    this.#seq++;
    this.last = plan;
    return plan;
  }

  assert(at: string, ...said: Assertion[]): Plan {
    return this.write(at, (writing) => planAssert(writing, said));
  }

  /** What is believed, oldest in valid time first. */
  get believed(): string[] {
    return this.open
      .sort((a, b) => (a.valid_from < b.valid_from ? -1 : 1))
      .map((row) => `${row.object} ${row.confidence} ${row.valid_from.slice(5, 10)}..${row.valid_to.slice(5, 10)}`);
  }

  get audit(): FactRow[] {
    return this.rows.filter(({ row_kind }) => row_kind === 'audit');
  }
}

const say = (object: string, from: string, to: string = OPEN_END, confidence = 0.9): Assertion => ({
  claim: `${object}@${from}/${confidence}`,
  object,
  valid: { from, to },
  confidence,
  provenance: `p-${object}-${confidence}`,
});

describe('the penicillin story', () => {
  const story = (): Notebook => {
    const notebook = new Notebook('lww');
    notebook.assert(date('03-02'), say('penicillin', date('03-01')));
    notebook.assert(date('04-15'), say('amoxicillin', date('04-15')));
    return notebook;
  };

  test('what was true before the change stays believed', () => {
    expect(story().believed).toEqual(['penicillin 0.9 03-01..04-15', 'amoxicillin 0.9 04-15..12-31']);
  });

  test('as of two instants, two answers', () => {
    const { rows } = story();
    const medication = (valid: string, system: string): string[] =>
      asOf(rows, { valid, system }).map(({ object }) => object);
    expect(medication(date('05-01'), date('04-01'))).toEqual(['penicillin']);
    expect(medication(date('05-01'), date('05-01'))).toEqual(['amoxicillin']);
    expect(medication(date('03-20'), date('05-01'))).toEqual(['penicillin']);
  });

  test('the loser stands in an audit row, in full', () => {
    const [audit, ...others] = story().audit;
    expect(others).toEqual([]);
    expect(audit).toMatchObject({
      fact_id: `audit::penicillin@${date('03-01')}/0.9::${date('04-15')}::0`,
      valid_from: date('04-15'),
      valid_to: OPEN_END,
      system_time_start: date('04-15'),
      system_time_end: OPEN_END,
      provenance_id: 'p-amoxicillin-0.9+p-penicillin-0.9',
      resolution_strategy_id: 'lww',
    });
    const witness = readWitness(audit!);
    expect(witness.resolution_id).toBe(audit!.resolution_id);
    const loser = witness.members.find(({ claim }) => claim === witness.loser)!;
    expect(loser.rows[0]).toMatchObject({ object: 'penicillin', valid_from: date('03-01'), valid_to: OPEN_END });
  });

  test('what is left over keeps its id, its claim and when it was asserted', () => {
    const left = story().open.find(({ object }) => object === 'penicillin')!;
    expect(left).toMatchObject({ fact_id: left.lineage, asserted_seq: 0, seq: 1, asserted_from: date('03-01') });
  });
});

test('by evidence who is surer wins, and a winner that loses nothing has no new version', () => {
  const notebook = new Notebook('evi');
  notebook.assert(date('03-01'), say('penicillin', date('03-01'), OPEN_END, 0.9));
  const plan = notebook.assert(date('04-01'), say('amoxicillin', date('02-01'), OPEN_END, 0.5));
  expect(plan.close).toEqual([]);
  expect(notebook.believed).toEqual(['amoxicillin 0.5 02-01..03-01', 'penicillin 0.9 03-01..12-31']);
  expect(notebook.audit.map((row) => readWitness(row).winner)).toEqual([`penicillin@${date('03-01')}/0.9`]);
  expect(notebook.assert(date('05-01'), say('none', date('06-01'), date('07-01'), 0.9)).close.length).toBe(1);
  expect(notebook.believed.slice(1)).toEqual([
    'penicillin 0.9 03-01..06-01',
    'none 0.9 06-01..07-01',
    'penicillin 0.9 07-01..12-31',
  ]);
});

test('by the start of validity an old state that is heard of late does not displace a newer one', () => {
  const heardLate = (strategy: Strategy): string[] => {
    const notebook = new Notebook(strategy);
    notebook.assert(date('04-16'), say('amoxicillin', date('04-15')));
    notebook.assert(date('05-01'), say('penicillin', date('03-01')));
    return notebook.believed;
  };
  expect(heardLate('lww-valid')).toEqual(['penicillin 0.9 03-01..04-15', 'amoxicillin 0.9 04-15..12-31']);
  expect(heardLate('lww')).toEqual(['penicillin 0.9 03-01..12-31']);
});

test('with `drop` a loser is not believed where nobody contested it, as in Algorithm 1', () => {
  const notebook = new Notebook('lww', { remainder: 'drop' });
  notebook.assert(date('03-01'), say('penicillin', date('03-01')));
  notebook.assert(date('04-01'), say('amoxicillin', date('04-15')));
  expect(notebook.believed).toEqual(['amoxicillin 0.9 04-15..12-31']);
  notebook.write(date('05-01'), (writing) =>
    planChange(writing, { ...say('none', date('06-01')), from: date('06-01') }),
  );
  expect(notebook.believed).toEqual(['amoxicillin 0.9 04-15..06-01', 'none 0.9 06-01..12-31']);
});

describe('where a person or a policy decides', () => {
  const opened = (strategy: Strategy): Notebook => {
    const notebook = new Notebook(strategy);
    notebook.assert(date('03-01'), say('penicillin', date('03-01')));
    return notebook;
  };
  const contrary = [say('amoxicillin', date('04-15')), say('none', date('05-01'), date('06-01'))];

  test.each(['await', 'rule'] as const)(
    'it is asked once for each distinct set of members, and nothing happens before: %s',
    (strategy) => {
      const notebook = opened(strategy);
      const ask = planAssert(notebook.writing(date('04-20')), contrary) as Ask;
      // Amoxicillin and penicillin meet before and after the other, which is one question.
      expect(ask.questions.map(({ members }) => members.map(({ object }) => object))).toEqual([
        ['amoxicillin', 'penicillin'],
        ['amoxicillin', 'none', 'penicillin'],
      ]);
      const answers = ask.questions.map((question, i) =>
        answerOf(question, 1, { theta: 't', judge: `j${i}`, policy: '7' }),
      );
      const later = { ...notebook.writing(date('04-21')), answers };
      const plan = planAssert(later, contrary.toReversed()) as Plan;
      expect(plan.insert.filter(({ row_kind }) => row_kind === 'current').map(({ object }) => object)).toEqual([
        'penicillin',
        'none',
        'penicillin',
      ]);
      const witness = readWitness(plan.insert.find(({ row_kind }) => row_kind === 'audit')!);
      expect(witness).toMatchObject({
        strategy,
        theta: 't',
        judge: 'j0',
        policy: '7',
        request: ask.questions[0]!.request,
      });
      // Some answered, some not: the rest is asked.
      const partly = planAssert({ ...later, answers: answers.slice(1) }, contrary) as Ask;
      expect(partly.questions.map(({ request }) => request)).toEqual([ask.questions[0]!.request]);
    },
  );

  test('an answer to what is not in question any more is refused', () => {
    const notebook = opened('await');
    const { questions } = planAssert(notebook.writing(date('04-20')), contrary.slice(0, 1)) as Ask;
    const answers = [answerOf(questions[0]!, 0)];
    notebook.write(date('04-20'), (writing) => planCorrect(writing, say('penicillin', date('03-01'), OPEN_END, 1)));
    const stale = { ...notebook.writing(date('04-21')), answers };
    expect(codeOf(() => planAssert(stale, contrary.slice(0, 1)))).toBe('stale_answer');
    const found = new Notebook('lww').writing(date('04-20'), { answers });
    expect(codeOf(() => planAssert(found, contrary.slice(0, 1)))).toBe('stale_answer');
  });

  test('an answer elects a member', () => {
    const writing = opened('rule').writing(date('04-20'));
    const { questions } = planAssert(writing, contrary.slice(0, 1)) as Ask;
    for (const index of [-1, 2, 0.5, Number.NaN])
      expect(codeOf(() => answerOf(questions[0]!, index))).toBe('unknown_member');
    const twice = [answerOf(questions[0]!, 0), answerOf(questions[0]!, 1)];
    expect(codeOf(() => planAssert({ ...writing, answers: twice }, contrary.slice(0, 1)))).toBe('repeated_answer');
    const answers = [{ request: questions[0]!.request, winner: 'nobody' }];
    expect(codeOf(() => planAssert({ ...writing, answers }, contrary.slice(0, 1)))).toBe('unknown_member');
  });

  test('what a judge sees makes another question when it is another, and time does not', () => {
    const requestOf = (at: string, ...said: Assertion[]): string =>
      (planAssert(opened('await').writing(at), said) as Ask).questions[0]!.request;
    const said = contrary[0]!;
    expect(requestOf(date('04-20'), said)).toBe(requestOf(date('04-25'), said));
    const others = [{ confidence: 0.1 }, { claim: 'other' }, { valid: { from: date('04-15'), to: date('06-01') } }];
    for (const other of others)
      expect(requestOf(date('04-20'), { ...said, ...other })).not.toBe(requestOf(date('04-20'), said));
  });
});

describe('what is said twice', () => {
  test('adds its provenance and widens, in a new version of the same fact', () => {
    const notebook = new Notebook('lww');
    notebook.assert(date('03-01'), say('penicillin', date('03-01'), date('05-01')));
    notebook.assert(date('04-01'), { ...say('penicillin', date('04-01')), provenance: 'second' });
    expect(notebook.believed).toEqual(['penicillin 0.9 03-01..12-31']);
    expect(notebook.open[0]).toMatchObject({
      fact_id: `penicillin@${date('03-01')}/0.9`,
      provenance_id: 'p-penicillin-0.9+second',
      asserted_seq: 0,
      seq: 1,
    });
    expect(notebook.rows.length).toBe(2);
    expect(notebook.audit).toEqual([]);
  });

  test('has the preferred confidence, and is not joined where that differs', () => {
    const confirmed = (strategy: Strategy): string[] => {
      const notebook = new Notebook(strategy);
      notebook.assert(date('03-01'), say('penicillin', date('03-01'), date('05-01'), 0.9));
      notebook.assert(date('04-01'), say('penicillin', date('04-01'), OPEN_END, 0.5));
      return notebook.believed;
    };
    expect(confirmed('evi')).toEqual(['penicillin 0.9 03-01..05-01', 'penicillin 0.5 05-01..12-31']);
    expect(confirmed('lww')).toEqual(['penicillin 0.9 03-01..04-01', 'penicillin 0.5 04-01..12-31']);
  });

  test('does not hide what it contradicts', () => {
    const notebook = new Notebook('lww');
    notebook.assert(
      date('03-01'),
      say('penicillin', date('03-01'), date('05-01')),
      say('none', date('05-01'), date('06-01')),
    );
    notebook.assert(date('04-01'), { ...say('penicillin', date('04-01')), claim: 'again' });
    expect(notebook.believed).toEqual(['penicillin 0.9 03-01..12-31']);
    expect(notebook.audit.map((row) => readWitness(row).loser)).toEqual([`none@${date('05-01')}/0.9`]);
  });
});

test('several values are believed beside each other, each withdrawn by itself', () => {
  const notebook = new Notebook('evi', { cardinality: 'multi-valued' });
  notebook.assert(date('03-01'), say('penicillin', date('03-01')), say('aspirin', date('03-01')));
  expect(notebook.audit).toEqual([]);
  notebook.write(date('04-01'), (writing) =>
    planRetract(writing, { valid: { from: date('04-01'), to: date('05-01') }, object: 'aspirin' }),
  );
  notebook.write(date('04-02'), (writing) =>
    planCorrect(writing, { ...say('ibuprofen', date('03-01'), date('04-01')), was: 'aspirin' }),
  );
  expect(notebook.believed.sort()).toEqual([
    'aspirin 0.9 05-01..12-31',
    'ibuprofen 0.9 03-01..04-01',
    'penicillin 0.9 03-01..12-31',
  ]);
  const writing = notebook.writing(date('04-03'));
  expect(codeOf(() => planChange(writing, { ...say('x', date('04-01')), from: date('04-01') }))).toBe(
    'not_single_valued',
  );
  expect(codeOf(() => planCorrect(writing, say('x', date('04-01'))))).toBe('not_single_valued');
  const single = declarePredicate({ cardinality: 'single-valued', strategy: 'evi' });
  expect(codeOf(() => checkOpen(notebook.open, single))).toBe('overlaps_open');
  expect(
    codeOf(() => planRetract({ ...writing, declaration: single }, { valid: { from: date('04-01'), to: OPEN_END } })),
  ).toBe('overlaps_open');
});

test('a correction rewrites a stretch of the past without asking, and what was believed then is still known', () => {
  const notebook = new Notebook('await');
  notebook.assert(date('03-01'), say('penicillin', date('03-01')));
  notebook.write(date('05-01'), (writing) => planCorrect(writing, say('none', date('03-10'), date('03-20'), 0.1)));
  expect(notebook.believed).toEqual([
    'penicillin 0.9 03-01..03-10',
    'none 0.1 03-10..03-20',
    'penicillin 0.9 03-20..12-31',
  ]);
  expect(new Set(notebook.open.map(({ fact_id }) => fact_id)).size).toBe(3);
  expect(asOf(notebook.rows, { valid: date('03-15'), system: date('04-01') }).map(({ object }) => object)).toEqual([
    'penicillin',
  ]);
});

test('a retraction of what is not believed is an empty plan', () => {
  const plan = planRetract(new Notebook('lww').writing(date('03-01')), {
    valid: { from: date('03-01'), to: OPEN_END },
  });
  expect(plan).toEqual({ kind: 'plan', systemTime: date('03-01'), close: [], insert: [] });
});

test('system time grows within a partition, whatever the clock says', () => {
  expect(systemTime(date('03-01'), null)).toBe(date('03-01'));
  expect(systemTime(date('03-01'), date('03-01'))).toBe('2026-03-01T00:00:00.000001Z');
  const notebook = new Notebook('lww');
  notebook.assert(date('03-01'), say('penicillin', date('03-01')));
  // Also where it is not told of the latest change: what is open begins before it is closed.
  expect(notebook.assert(date('02-01'), say('none', date('03-01'))).systemTime).toBe('2026-03-01T00:00:00.000001Z');
});

test('what can’t be so is refused by name, and nothing is planned', () => {
  const writing = new Notebook('evi').writing(date('03-01'));
  const good = say('penicillin', date('03-01'));
  const refusal = (more: object): unknown => codeOf(() => planAssert(writing, [{ ...good, ...more }]));
  for (const confidence of [Number.NaN, -0.1, 1.1, Number.POSITIVE_INFINITY, '0.5'])
    expect(refusal({ confidence })).toBe('bad_confidence');
  expect(refusal({ valid: { from: date('03-01'), to: date('03-01') } })).toBe('empty_period');
  expect(refusal({ valid: { from: date('03-02'), to: date('03-01') } })).toBe('reversed_period');
  expect(refusal({ strategy: 'lww' })).toBe('strategy_not_allowed');
  expect(refusal({ strategy: 'newest' })).toBe('unknown_strategy');
  for (const object of ['', 'a\0b', '\ud800']) expect(refusal({ object })).toBe('bad_text');
  expect(codeOf(() => planAssert(writing, [good, good]))).toBe('repeated_claim');
  const [row] = (planAssert(writing, [good]) as Plan).insert as [FactRow];
  for (const other of [
    { ...row, subject: 'bob' },
    { ...row, system_time_end: date('04-01') },
    { ...row, row_kind: 'audit' as const },
  ])
    expect(codeOf(() => planAssert({ ...writing, open: [other] }, [good]))).toBe('wrong_partition');
  expect(codeOf(() => declarePredicate({ cardinality: 'many' as never, strategy: 'lww' }))).toBe('unknown_cardinality');
  expect(codeOf(() => declarePredicate({ cardinality: 'single-valued', strategy: 'evidence' as never }))).toBe(
    'unknown_strategy',
  );
  expect(
    codeOf(() => declarePredicate({ cardinality: 'single-valued', strategy: 'evi', remainder: 'some' as never })),
  ).toBe('unknown_remainder');
});
