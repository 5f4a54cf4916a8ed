import * as memory from '#memory';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, takes } from './table.ts';

const AT = '2026-03-23T09:00:00.000000Z';
const valid = (): memory.Period => ({ from: '2026-03-01T00:00:00.000000Z', to: memory.OPEN_END });
const partition = (): memory.Partition => ({ space: 's', subject: 'alice', predicate: 'medication' });
const declaration = (strategy: memory.Strategy = 'lww'): memory.PredicateDeclaration =>
  memory.declarePredicate({ cardinality: 'single-valued', strategy });
const writing = (strategy?: memory.Strategy, open: memory.FactRow[] = []): memory.PlanInput => ({
  partition: partition(),
  declaration: { ...declaration(strategy) },
  open,
  latest: null,
  at: AT,
  seq: 1,
  merge: (a, b) => `${a}+${b}`,
});
const assertion = (object = 'penicillin'): memory.Assertion => ({
  claim: `c-${object}`,
  object,
  valid: valid(),
  confidence: 0.9,
  provenance: '@0',
});
const contradicting = (strategy: memory.Strategy): memory.Plan | memory.QuestionPlan =>
  memory.planAssert(writing(strategy), [assertion(), assertion('amoxicillin')]);
const plan = (): memory.Plan => memory.planAssert(writing(), [assertion()]) as memory.Plan;
const row = (): memory.FactRow => plan().insert[0]!;
const question = (): memory.Question => (contradicting('await') as memory.QuestionPlan).questions[0]!;
const asked = (): memory.PlanInput => ({
  ...writing('await'),
  answers: [memory.answerOf(question(), 0, { theta: 't', judge: 'j', policy: 'p' })],
});
const point = (): memory.Point => ({ valid: AT, system: AT });
const { valid: _valid, ...change } = { ...assertion(), from: AT };

export const MEMORY: Readonly<Record<string, Case | Exempt>> = {
  allenRelation: takes(memory.allenRelation, () => [valid(), valid()]),
  readWitness: takes(memory.readWitness, () => [
    (contradicting('lww') as memory.Plan).insert.find(({ row_kind }) => row_kind === 'audit'),
  ]),
  claimId: takes(memory.claimId, () => [
    new Uint8Array(32),
    { ...partition(), object: 'penicillin', valid: valid(), sourceEventId: 'e' },
  ]),
  checkFact: takes(memory.checkFact, () => [row()]),
  checkFacts: takes(memory.checkFacts, () => [[row()]]),
  checkedFacts: takes(memory.checkedFacts, () => [[row()]]),
  contradicts: takes(memory.contradicts, () => [row(), row()]),
  objectKey: takes(memory.objectKey, ['penicillin']),
  period: takes(memory.period, [AT, memory.OPEN_END]),
  readPeriod: takes(memory.readPeriod as never, () => [{ from: AT, to: memory.OPEN_END }, 'valid'], {
    1: 'a name for the error',
  }),
  storedPeriod: takes(memory.storedPeriod, [AT, memory.OPEN_END]),
  checkOpen: takes(memory.checkOpen, () => [[row()], { ...declaration() }]),
  planAssert: takes(memory.planAssert, () => [asked(), [assertion(), assertion('amoxicillin')]]),
  planChange: takes(memory.planChange, () => [writing('lww', [row()]), { ...change, claim: 'd' }]),
  planCorrect: takes(memory.planCorrect, () => [
    writing('lww', [row()]),
    { ...assertion('amoxicillin'), was: 'penicillin', strategy: 'lww' },
  ]),
  planRetract: takes(memory.planRetract, () => [writing('lww', [row()]), { valid: valid(), object: 'penicillin' }]),
  lostIn: exempt(MADE),
  disputedBy: exempt(MADE),
  isMark: exempt(MADE),
  leftovers: exempt('takes periods that were checked'),
  lostWrites: exempt(MADE),
  validOf: exempt(MADE),
  isOfAssistant: exempt(MADE),
  statedProvenance: exempt(MADE),
  usersOf: exempt(MADE),
  planWithdraw: exempt(MADE),
  restoredIn: exempt(MADE),
  withdrawnBefore: exempt(MADE),
  requireText: takes(memory.requireText, ['a text', 'object']),
  readTrust: takes(memory.readTrust, ['t:policy:p']),
  trustProvenance: exempt(MADE),
  overlaps: exempt('takes periods that were checked'),
  systemTime: takes(memory.systemTime, [AT, AT]),
  declarePredicate: takes(memory.declarePredicate, [
    { cardinality: 'single-valued', strategy: 'lww', remainder: 'keep' },
  ]),
  answerOf: takes(memory.answerOf, () => [question(), 0, { judge: 'j' }], { '0.members': MADE }),
  applyPlan: takes(memory.applyPlan, () => [[], plan()]),
  asOf: takes(memory.asOf, () => [[row()], point(), 'all']),
  history: takes(memory.history, () => [[row()], partition(), 'all']),
  diff: takes(memory.diff, () => [[row()], point(), point()]),
  everyWordOf: takes(memory.everyWordOf, ['a text']),
  wordsOf: takes(memory.wordsOf, ['a text']),
  forgetWords: takes(() => memory.forgetWords(), []),
  documentOf: takes(memory.documentOf, () => [row()]),
  wordsOfDocument: takes(memory.wordsOfDocument, () => [row()]),
  dayOf: takes(memory.dayOf, () => [row()]),
  rounded: takes(memory.rounded, [0.5]),
  rankNearby: takes(memory.rankNearby as never, () => [
    [{ score: 1, day: '2026-03-01', recorded: '2026-03-01T09:00:00.000000Z' }],
    { neighbours: 0.35, session: 0.5 },
  ]),
  fuse: takes(memory.fuse, () => [[['a', 'b'], ['b']], String]),
  'new OpenSet': exempt('is given rows that were checked'),
  'OpenSet.size': exempt('no arguments'),
  'OpenSet.get': exempt('is given rows that were checked'),
  'OpenSet.overlapping': exempt('is given rows that were checked'),
  'OpenSet.add': exempt('is given rows that were checked'),
  'OpenSet.delete': exempt('is given rows that were checked'),
  'new Bm25': takes(
    (collection, sought) => new memory.Bm25(collection, sought),
    () => [{ texts: 2, words: 9 }, [{ word: 'a', texts: 1 }]],
  ),
  'Bm25.score': takes(
    (occurrences, length) =>
      new memory.Bm25({ texts: 2, words: 9 }, [{ word: 'a', texts: 1 }]).score(occurrences, length),
    () => [[1], 4],
  ),
  'Bm25.bound': takes((from) => new memory.Bm25({ texts: 2, words: 9 }, [{ word: 'a', texts: 1 }]).bound(from), [0]),
  selectByRelation: takes(memory.selectByRelation, () => [[row()], ['equals'], valid()]),
};
