import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { readWitness } from './audit.ts';
import type { FactRow } from './fact.ts';
import { OPEN_END } from './period.ts';
import {
  type Assertion,
  checkOpen,
  type Plan,
  type PlanInput,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  type QuestionPlan,
  systemTime,
} from './plan.ts';
import { declarePredicate, type Remainder } from './predicate.ts';
import { answerOf } from './question.ts';
import { applyPlan, asOf } from './read.ts';
import type { Strategy } from './strategy.ts';

const codeOf = (call: () => unknown): unknown => (errorOf(call) as { reason?: unknown }).reason;
const partition = { space: 'clinic', subject: 'alice', predicate: 'medication' };
const date = (text: string): string => `2026-${text}T00:00:00.000000Z`;
const merge = (a: string, b: string): string => [...a.split('+'), ...b.split('+')].sort().join('+');

/** Rows of one partition, with applied plans. */
class Notebook {
  rows: readonly FactRow[] = [];
  last: Plan | undefined;
  readonly #declaration;
  #seq = 0;

  constructor(
    strategy: Strategy,
    more: { remainder?: Remainder; cardinality?: 'multi-valued' } = {},
  ) {
    this.#declaration = declarePredicate({ cardinality: 'single-valued', strategy, ...more });
  }

  writing(at: string, more: Partial<PlanInput> = {}): PlanInput {
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
    return this.rows.filter(
      (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
    );
  }

  write(at: string, planned: (writing: PlanInput) => Plan | QuestionPlan): Plan {
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

  /** The current facts, oldest valid time first. */
  get believed(): string[] {
    return this.open
      .sort((a, b) => (a.valid_from < b.valid_from ? -1 : 1))
      .map(
        (row) =>
          `${row.object} ${row.confidence} ${row.valid_from.slice(5, 10)}..${row.valid_to.slice(5, 10)}`,
      );
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

  test('a fact that was true before the change still holds', () => {
    expect(story().believed).toEqual([
      'penicillin 0.9 03-01..04-15',
      'amoxicillin 0.9 04-15..12-31',
    ]);
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
    expect(loser.rows[0]).toMatchObject({
      object: 'penicillin',
      valid_from: date('03-01'),
      valid_to: OPEN_END,
    });
  });

  test('a leftover keeps its id, its claim and its time of assertion', () => {
    const left = story().open.find(({ object }) => object === 'penicillin')!;
    expect(left).toMatchObject({
      fact_id: left.lineage,
      asserted_seq: 0,
      seq: 1,
      asserted_from: date('03-01'),
    });
  });
});

test('by evidence the surer wins; a winner without losses has no new version', () => {
  const notebook = new Notebook('evi');
  notebook.assert(date('03-01'), say('penicillin', date('03-01'), OPEN_END, 0.9));
  const plan = notebook.assert(date('04-01'), say('amoxicillin', date('02-01'), OPEN_END, 0.5));
  expect(plan.close).toEqual([]);
  expect(notebook.believed).toEqual([
    'amoxicillin 0.5 02-01..03-01',
    'penicillin 0.9 03-01..12-31',
  ]);
  expect(notebook.audit.map((row) => readWitness(row).winner)).toEqual([
    `penicillin@${date('03-01')}/0.9`,
  ]);
  expect(
    notebook.assert(date('05-01'), say('none', date('06-01'), date('07-01'), 0.9)).close.length,
  ).toBe(1);
  expect(notebook.believed.slice(1)).toEqual([
    'penicillin 0.9 03-01..06-01',
    'none 0.9 06-01..07-01',
    'penicillin 0.9 07-01..12-31',
  ]);
});

test('by valid time an old state reported late does not displace a newer one', () => {
  const heardLate = (strategy: Strategy): string[] => {
    const notebook = new Notebook(strategy);
    notebook.assert(date('04-16'), say('amoxicillin', date('04-15')));
    notebook.assert(date('05-01'), say('penicillin', date('03-01')));
    return notebook.believed;
  };
  expect(heardLate('lww-valid')).toEqual([
    'penicillin 0.9 03-01..04-15',
    'amoxicillin 0.9 04-15..12-31',
  ]);
  expect(heardLate('lww')).toEqual(['penicillin 0.9 03-01..12-31']);
});

test('by valid time a confirmation moves no border of an earlier claim', () => {
  const told = (...said: Assertion[]): string[] => {
    const notebook = new Notebook('lww-valid');
    for (const [n, one] of said.entries()) notebook.assert(date(`12-${10 + n}`), one);
    return asOf(notebook.rows, { valid: date('05-10'), system: date('12-30') }).map(
      ({ object }) => object,
    );
  };
  const [late, early] = [say('penicillin', date('07-01')), say('penicillin', date('03-01'))];
  const between = say('none', date('05-01'), date('06-01'));
  expect(told(late, early, between)).toEqual(['none']);
  expect(told(early, late, between)).toEqual(['none']);
  // Nor does a claim that joins two earlier ones.
  const join = [say('penicillin', date('01-01'), date('02-01')), say('penicillin', date('05-05'))];
  expect(told(...join, say('penicillin', date('01-15')), say('none', date('03-01')))).toEqual([
    'penicillin',
  ]);
});

test('by valid time the later commit wins among equal starts, in any order', () => {
  const [flu, cold, old] = [
    say('flu', date('03-01')),
    say('cold', date('03-01')),
    say('none', date('02-01')),
  ];
  for (const last of [flu, cold]) {
    const [first] = [flu, cold].filter((one) => one !== last);
    for (const order of [
      [first!, last, old],
      [first!, old, last],
      [old, first!, last],
    ]) {
      const notebook = new Notebook('lww-valid');
      for (const [n, one] of order.entries()) notebook.assert(date(`12-${10 + n}`), one);
      expect(notebook.believed).toEqual([
        'none 0.9 02-01..03-01',
        `${last.object} 0.9 03-01..12-31`,
      ]);
    }
  }
});

test('by valid time with `drop` a loser is gone by the winners that it met', () => {
  const told = (...said: Assertion[]): string[] => {
    const notebook = new Notebook('lww-valid', { remainder: 'drop' });
    for (const [n, one] of said.entries()) notebook.assert(date(`12-${10 + n}`), one);
    return notebook.believed;
  };
  const [flu, none, june] = [
    say('flu', date('04-01'), date('10-01')),
    say('none', date('02-01')),
    say('none', date('06-01'), date('07-01')),
  ];
  // Alone against the claim of June, the flu loses immediately. Later it has won the months around.
  expect(told(flu, none, june)).toEqual(['none 0.9 06-01..07-01']);
  expect(told(june, none, flu)).toEqual([
    'flu 0.9 04-01..06-01',
    'none 0.9 06-01..07-01',
    'flu 0.9 07-01..10-01',
  ]);
});

test('with `drop` a loser is gone even where uncontested, as in Algorithm 1', () => {
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
    'each distinct set of candidates is asked once, before any change: %s',
    (strategy) => {
      const notebook = opened(strategy);
      const ask = planAssert(notebook.writing(date('04-20')), contrary) as QuestionPlan;
      // Amoxicillin and penicillin meet before and after the other. That is one question.
      expect(ask.questions.map(({ members }) => members.map(({ object }) => object))).toEqual([
        ['amoxicillin', 'penicillin'],
        ['amoxicillin', 'none', 'penicillin'],
      ]);
      const answers = ask.questions.map((question, i) =>
        answerOf(question, 1, { theta: 't', judge: `j${i}`, policy: '7' }),
      );
      const later = { ...notebook.writing(date('04-21')), answers };
      const plan = planAssert(later, contrary.toReversed()) as Plan;
      expect(
        plan.insert.filter(({ row_kind }) => row_kind === 'current').map(({ object }) => object),
      ).toEqual(['penicillin', 'none', 'penicillin']);
      const witness = readWitness(plan.insert.find(({ row_kind }) => row_kind === 'audit')!);
      expect(witness).toMatchObject({
        strategy,
        theta: 't',
        judge: 'j0',
        policy: '7',
        request: ask.questions[0]!.request,
      });
      // With some answers missing, the other questions remain.
      const partly = planAssert({ ...later, answers: answers.slice(1) }, contrary) as QuestionPlan;
      expect(partly.questions.map(({ request }) => request)).toEqual([ask.questions[0]!.request]);
    },
  );

  test('an answer to a question that is no longer open is refused', () => {
    const notebook = opened('await');
    const { questions } = planAssert(
      notebook.writing(date('04-20')),
      contrary.slice(0, 1),
    ) as QuestionPlan;
    const answers = [answerOf(questions[0]!, 0)];
    notebook.write(date('04-20'), (writing) =>
      planCorrect(writing, say('penicillin', date('03-01'), OPEN_END, 1)),
    );
    const stale = { ...notebook.writing(date('04-21')), answers };
    expect(codeOf(() => planAssert(stale, contrary.slice(0, 1)))).toBe('stale_answer');
    const found = new Notebook('lww').writing(date('04-20'), { answers });
    expect(codeOf(() => planAssert(found, contrary.slice(0, 1)))).toBe('stale_answer');
  });

  test('an answer elects a member', () => {
    const writing = opened('rule').writing(date('04-20'));
    const { questions } = planAssert(writing, contrary.slice(0, 1)) as QuestionPlan;
    for (const index of [-1, 2, 0.5, Number.NaN])
      expect(codeOf(() => answerOf(questions[0]!, index))).toBe('unknown_member');
    const twice = [answerOf(questions[0]!, 0), answerOf(questions[0]!, 1)];
    expect(codeOf(() => planAssert({ ...writing, answers: twice }, contrary.slice(0, 1)))).toBe(
      'repeated_answer',
    );
    const answers = [{ request: questions[0]!.request, winner: 'nobody' }];
    expect(codeOf(() => planAssert({ ...writing, answers }, contrary.slice(0, 1)))).toBe(
      'unknown_member',
    );
  });

  test('a question changes with the view of the judge, and not with time', () => {
    const requestOf = (at: string, ...said: Assertion[]): string =>
      (planAssert(opened('await').writing(at), said) as QuestionPlan).questions[0]!.request;
    const said = contrary[0]!;
    expect(requestOf(date('04-20'), said)).toBe(requestOf(date('04-25'), said));
    const others = [
      { confidence: 0.1 },
      { claim: 'other' },
      { valid: { from: date('04-15'), to: date('06-01') } },
    ];
    for (const other of others)
      expect(requestOf(date('04-20'), { ...said, ...other })).not.toBe(
        requestOf(date('04-20'), said),
      );
  });
});

describe('many statements that contradict each other', () => {
  const hour = (n: number): string =>
    new Date(Date.UTC(2026, 0, 1, n)).toISOString().replace('Z', '000Z');
  const many = (count: number, periodOf: (n: number) => [from: string, to: string]): Assertion[] =>
    Array.from({ length: count }, (_, n) => ({
      ...say(`drug ${n}`, ...periodOf(n)),
      claim: String(n).padStart(64, '0'),
      provenance: `w:@${n}`,
    }));
  const staggered = (count: number): Assertion[] => many(count, (n) => [hour(n), hour(n + count)]);
  const together = (count: number): Assertion[] => many(count, () => [hour(0), hour(1)]);

  test('is refused before planning or asking if no entry holds the losers', () => {
    for (const strategy of ['lww', 'await'] as const)
      for (const count of [50, 200, 1_000])
        expect(
          codeOf(() => planAssert(new Notebook(strategy).writing(date('03-01')), staggered(count))),
        ).toBe('too_much_at_once');
    expect(
      codeOf(() => planAssert(new Notebook('await').writing(date('03-01')), together(1_000))),
    ).toBe('too_much_at_once');
    const long = together(50).map((said) => ({ ...said, object: said.object.repeat(2_000) }));
    expect(codeOf(() => planAssert(new Notebook('await').writing(date('03-01')), long))).toBe(
      'too_much_at_once',
    );
    const several = new Notebook('lww', { cardinality: 'multi-valued' });
    expect(several.assert(date('03-01'), ...staggered(200)).insert).toHaveLength(200);
  });

  test('is planned where one does', () => {
    const plan = new Notebook('lww').assert(date('03-01'), ...staggered(30));
    expect(plan.insert.filter(({ row_kind }) => row_kind === 'audit')).toHaveLength(29 * 29);
    const few = new Notebook('lww').assert(date('03-01'), ...together(50));
    expect(few.insert.map(({ row_kind }) => row_kind).sort()).toEqual([
      ...Array(49).fill('audit'),
      'current',
    ]);
    const { questions } = planAssert(
      new Notebook('await').writing(date('03-01')),
      together(200),
    ) as QuestionPlan;
    expect(questions.map(({ members }) => members.length)).toEqual([200]);
  });
});

describe('a repeated assertion', () => {
  test('adds its provenance where both hold, and widens the fact beside it', () => {
    const notebook = new Notebook('lww');
    notebook.assert(date('03-01'), say('penicillin', date('03-01'), date('05-01')));
    notebook.assert(date('04-01'), { ...say('penicillin', date('04-01')), provenance: 'second' });
    expect(notebook.believed).toEqual([
      'penicillin 0.9 03-01..04-01',
      'penicillin 0.9 04-01..05-01',
      'penicillin 0.9 05-01..12-31',
    ]);
    const first = `penicillin@${date('03-01')}/0.9`;
    expect(
      notebook.open.map((row) => [row.lineage, row.provenance_id, row.asserted_seq, row.seq]),
    ).toEqual([
      [first, 'p-penicillin-0.9', 0, 1],
      [first, 'p-penicillin-0.9+second', 0, 1],
      [`penicillin@${date('04-01')}/0.9`, 'second', 1, 1],
    ]);
    expect(notebook.rows.length).toBe(4);
    expect(notebook.audit).toEqual([]);
  });

  test('adds at most 32 writes, of constant size, and is named in each plan', () => {
    const notebook = new Notebook('lww');
    const token = (n: number): string => `w:${String((n * 37) % 101).padStart(64, '0')}#0`;
    const sum = (a: string, b: string): string =>
      [...a.split(' + '), ...b.split(' + ')].sort().join(' + ');
    for (let n = 0; n < 100; n++) {
      const again = {
        ...say('penicillin', date('03-01')),
        claim: `claim ${n}`,
        provenance: token(n),
      };
      const at = `2026-04-01T00:00:00.${String(n).padStart(6, '0')}Z`;
      const plan = notebook.write(at, (writing) => planAssert({ ...writing, merge: sum }, [again]));
      expect(plan.insert[0]!.provenance_id.split(' + ')).toEqual(
        Array.from({ length: Math.min(n + 1, 32) }, (_, i) => token(i)).sort(),
      );
      expect(plan.merged).toEqual(n === 0 ? undefined : [`claim ${n}`]);
    }
    expect(notebook.believed).toEqual(['penicillin 0.9 03-01..12-31']);
    // The witness of a later winning assertion sums the provenance of all participants.
    const [lost] = notebook
      .assert(date('05-01'), say('none', date('03-01')))
      .insert.filter(({ row_kind }) => row_kind === 'audit');
    expect(lost!.provenance_id).toContain('p-none-0.9');
  });

  test('has the preferred confidence, and is not joined where that differs', () => {
    const confirmed = (strategy: Strategy): string[] => {
      const notebook = new Notebook(strategy);
      notebook.assert(date('03-01'), say('penicillin', date('03-01'), date('05-01'), 0.9));
      notebook.assert(date('04-01'), say('penicillin', date('04-01'), OPEN_END, 0.5));
      return notebook.believed;
    };
    const before = 'penicillin 0.9 03-01..04-01';
    const after = 'penicillin 0.5 05-01..12-31';
    expect(confirmed('evi')).toEqual([before, 'penicillin 0.9 04-01..05-01', after]);
    expect(confirmed('lww')).toEqual([before, 'penicillin 0.5 04-01..05-01', after]);
  });

  test('does not hide a contradiction', () => {
    const notebook = new Notebook('lww');
    notebook.assert(
      date('03-01'),
      say('penicillin', date('03-01'), date('05-01')),
      say('none', date('05-01'), date('06-01')),
    );
    notebook.assert(date('04-01'), { ...say('penicillin', date('04-01')), claim: 'again' });
    expect(notebook.believed).toEqual([
      'penicillin 0.9 03-01..04-01',
      'penicillin 0.9 04-01..05-01',
      'penicillin 0.9 05-01..12-31',
    ]);
    expect(notebook.audit.map((row) => readWitness(row).loser)).toEqual([
      `none@${date('05-01')}/0.9`,
    ]);
  });
});

describe('an end that is stated later', () => {
  const end = (object: string, ends: string, confidence = 0.9) => ({
    claim: `end of ${object}@${ends}`,
    object,
    ends,
    confidence,
    provenance: `e-${object}`,
  });
  const ended = (strategy: Strategy, confidence?: number): Notebook => {
    const notebook = new Notebook(strategy, { cardinality: 'multi-valued' });
    notebook.assert(date('03-01'), say('nuts', date('03-01')), say('milk', date('03-01')));
    notebook.write(date('04-01'), (writing) =>
      planAssert(writing, [end('nuts', date('03-28'), confidence)]),
    );
    return notebook;
  };

  test.each(['lww', 'lww-valid', 'evi'] as const)(
    'ends the fact of its object alone: %s',
    (strategy) => {
      const notebook = ended(strategy);
      expect(notebook.believed.sort()).toEqual(['milk 0.9 03-01..12-31', 'nuts 0.9 03-01..03-28']);
      // The ended fact is kept, like every loser.
      const witness = readWitness(notebook.audit[0]!);
      expect(witness.members.find(({ claim }) => claim === witness.loser)).toMatchObject({
        object: 'nuts',
      });
      expect(witness.members.find(({ claim }) => claim === witness.winner)).toMatchObject({
        object: 'nuts',
        ends: true,
      });
      const before = asOf(notebook.rows, { valid: date('05-01'), system: date('03-31') });
      expect(before.map(({ object }) => object).sort()).toEqual(['milk', 'nuts']);
    },
  );

  test('loses to better evidence, and is on record', () => {
    const notebook = ended('evi', 0.5);
    expect(notebook.believed.sort()).toEqual(['milk 0.9 03-01..12-31', 'nuts 0.9 03-01..12-31']);
    expect(readWitness(notebook.audit[0]!).loser).toBe(`end of nuts@${date('03-28')}`);
  });

  test('leaves a later period of the same object', () => {
    const notebook = new Notebook('lww');
    notebook.assert(
      date('03-01'),
      say('Acme', date('03-01'), date('05-01')),
      say('Acme', date('06-01')),
    );
    notebook.write(date('07-01'), (writing) => planAssert(writing, [end('Acme', date('04-01'))]));
    expect(notebook.believed).toEqual(['Acme 0.9 03-01..04-01', 'Acme 0.9 06-01..12-31']);
    // Nothing began before it.
    const plan = notebook.write(date('08-01'), (writing) =>
      planAssert(writing, [end('Acme', date('02-01'))]),
    );
    expect([plan.close, plan.insert]).toEqual([[], []]);
  });

  test('may state the period before it, and end with it what began earlier', () => {
    const notebook = new Notebook('lww');
    notebook.assert(date('03-01'), say('Acme', date('03-01')));
    const said = say('Acme', date('02-01'), date('04-01'));
    const plan = notebook.write(date('05-01'), (writing) =>
      planAssert(writing, [said, { ...end('Acme', date('04-01')), claim: said.claim }]),
    );
    expect(notebook.believed).toEqual(['Acme 0.9 02-01..03-01', 'Acme 0.9 03-01..04-01']);
    expect(plan.merged).toBeUndefined();
  });

  test('with `drop` cuts nothing before it', () => {
    const notebook = new Notebook('lww', { remainder: 'drop' });
    notebook.assert(date('03-01'), say('nuts', date('03-01')));
    notebook.write(date('04-01'), (writing) => planAssert(writing, [end('nuts', date('03-28'))]));
    expect(notebook.believed).toEqual(['nuts 0.9 03-01..03-28']);
  });

  test.each(['await', 'rule'] as const)('is asked about first: %s', (strategy) => {
    const notebook = new Notebook(strategy);
    notebook.assert(date('03-01'), say('nuts', date('03-01')));
    const writing = notebook.writing(date('04-01'));
    const { questions } = planAssert(writing, [end('nuts', date('03-28'))]) as QuestionPlan;
    expect(questions[0]!.members.map(({ object, ends }) => [object, ends])).toEqual([
      ['nuts', true],
      ['nuts', undefined],
    ]);
    const decided = (n: number): Plan =>
      planAssert({ ...writing, answers: [answerOf(questions[0]!, n)] }, [
        end('nuts', date('03-28')),
      ]) as Plan;
    expect(decided(0).insert.filter(({ row_kind }) => row_kind === 'current')).toMatchObject([
      { valid_to: date('03-28') },
    ]);
    expect(decided(1).close).toEqual([]);
  });
});

test('several values hold side by side, each withdrawn independently', () => {
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
  expect(
    codeOf(() => planChange(writing, { ...say('x', date('04-01')), from: date('04-01') })),
  ).toBe('not_single_valued');
  expect(codeOf(() => planCorrect(writing, say('x', date('04-01'))))).toBe('not_single_valued');
  const single = declarePredicate({ cardinality: 'single-valued', strategy: 'evi' });
  expect(codeOf(() => checkOpen(notebook.open, single))).toBe('overlaps_open');
  // Advice to retract it here would be wrong.
  expect(() => checkOpen(notebook.open, single)).toThrow(
    /Retract one of them in a trajectory whose domain has the earlier declaration/,
  );
});

test('two forms of one object that both hold merge on a repeated assertion', () => {
  const several = new Notebook('lww', { cardinality: 'multi-valued' });
  // Rows as an older version wrote them.
  const earlier = ['caf\u00e9', 'cafe\u0301', 'tea'].map(
    (object, n) =>
      several.assert(date(`03-0${n + 1}`), { ...say(`o${n}`, date('03-01')), object: `o${n}` })
        .insert[0]! && object,
  );
  several.rows = several.rows.map((row) => ({
    ...row,
    object: earlier[Number(row.object.slice(1))]!,
  }));
  expect(several.open).toHaveLength(3);
  several.assert(date('04-01'), say('cafe\u0301', date('04-01')));
  expect(several.believed.sort()).toEqual([
    'caf\u00e9 0.9 03-01..04-01',
    'caf\u00e9 0.9 04-01..12-31',
    'tea 0.9 03-01..12-31',
  ]);
});

test('a correction rewrites a past period unasked; former facts stay known', () => {
  const notebook = new Notebook('await');
  notebook.assert(date('03-01'), say('penicillin', date('03-01')));
  notebook.write(date('05-01'), (writing) =>
    planCorrect(writing, say('none', date('03-10'), date('03-20'), 0.1)),
  );
  expect(notebook.believed).toEqual([
    'penicillin 0.9 03-01..03-10',
    'none 0.1 03-10..03-20',
    'penicillin 0.9 03-20..12-31',
  ]);
  expect(new Set(notebook.open.map(({ fact_id }) => fact_id)).size).toBe(3);
  expect(
    asOf(notebook.rows, { valid: date('03-15'), system: date('04-01') }).map(
      ({ object }) => object,
    ),
  ).toEqual(['penicillin']);
});

test('a correction of one object applies where recorded, contradicting nothing', () => {
  const notebook = new Notebook('await');
  notebook.assert(
    date('03-01'),
    say('penicillin', date('03-01'), date('03-10')),
    say('none', date('03-10')),
  );
  const correct = (object: string, was: string, from = date('03-05'), to = date('03-15')): Plan =>
    notebook.write(date('05-01'), (writing) =>
      planCorrect(writing, { ...say(object, from, to), was }),
    );
  expect(correct('ibuprofen', 'aspirin')).toMatchObject({ close: [], insert: [] });
  expect(correct('ibuprofen', 'penicillin').merged).toBeUndefined();
  expect(notebook.believed).toEqual([
    'penicillin 0.9 03-01..03-05',
    'ibuprofen 0.9 03-05..03-10',
    'none 0.9 03-10..12-31',
  ]);
  expect(correct('aspirin', 'penicillin', date('03-05'), date('03-10'))).toMatchObject({
    close: [],
    insert: [],
  });
  expect(notebook.audit).toEqual([]);
});

test('a retraction of an absent fact is an empty plan', () => {
  const plan = planRetract(new Notebook('lww').writing(date('03-01')), {
    valid: { from: date('03-01'), to: OPEN_END },
  });
  expect(plan).toEqual({ kind: 'plan', systemTime: date('03-01'), close: [], insert: [] });
});

test('system time grows within a partition for any clock', () => {
  expect(systemTime(date('03-01'), null)).toBe(date('03-01'));
  expect(systemTime(date('03-01'), date('03-01'))).toBe('2026-03-01T00:00:00.000001Z');
  const notebook = new Notebook('lww');
  notebook.assert(date('03-01'), say('penicillin', date('03-01')));
  // Also without knowledge of the latest change, because an open row starts before it is closed.
  expect(notebook.assert(date('02-01'), say('none', date('03-01'))).systemTime).toBe(
    '2026-03-01T00:00:00.000001Z',
  );
});

test('an impossible assertion is refused by name, and nothing is planned', () => {
  const writing = new Notebook('evi').writing(date('03-01'));
  const good = say('penicillin', date('03-01'));
  const refusal = (more: object): unknown =>
    codeOf(() => planAssert(writing, [{ ...good, ...more }]));
  expect(refusal({ valid: { from: date('03-01'), to: date('03-01') } })).toBe('empty_period');
  expect(refusal({ valid: { from: date('03-02'), to: date('03-01') } })).toBe('reversed_period');
  expect(refusal({ strategy: 'lww' })).toBe('strategy_not_allowed');
  expect(codeOf(() => planAssert(writing, [good, good]))).toBe('repeated_claim');
});
