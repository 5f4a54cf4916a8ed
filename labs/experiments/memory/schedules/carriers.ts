import { Polynomial, type Token, writeToken } from 'assize/internal/memory/provenance';
import { level } from '../isolation/index.ts';
import {
  BOOLEAN,
  type Carrier,
  MULTIDEGREE,
  MULTILINEAR,
  recoverByShift,
} from '../provenance/index.ts';
import { execute } from './execute.ts';
import { type Bytes, RandomDraws, requireCount } from './random-draws.ts';
import type { Grid, Row } from './row.ts';
import { contradictions, isUndominated, losers, recovery, type SchemaMode } from './schema-axis.ts';
import { WITNESSES, type Witness } from './witnesses.ts';

const CARRIERS: readonly Carrier<any>[] = [MULTILINEAR, MULTIDEGREE, BOOLEAN];

/** A mechanism, turned on alone over RC and a schema without audit rows. */
const DEFENCES = {
  'audit-row': { target: 'N3', schema: 'audit_row', under: level('RC') },
  'judge-pin': { target: 'N1', schema: 'base', under: level('RC', { tablePins: ['judge_log'] }) },
  'partition-SR': { target: 'N2', schema: 'base', under: level('RC', { tablePins: ['facts'] }) },
} as const;

type Defence = keyof typeof DEFENCES;
const TARGETS = ['N3', 'N1', 'N2'] as const;

/**
 * Tables 5 and 22: whether a single defence excludes an anomaly, in each carrier. A defence always
 * excludes its own anomaly and no other. N3 is checked by the paper's own predicate. In 𝔹 that
 * predicate finds no erasure even without the audit row.
 */
export function defences(random: Bytes, schedules = 100): Grid {
  requireCount(schedules, 'schedules');
  const chance = new RandomDraws(random);
  const rows = CARRIERS.flatMap((carrier) =>
    (Object.keys(DEFENCES) as Defence[]).flatMap((defence) =>
      TARGETS.map((target): Row => {
        const isMatched = DEFENCES[defence].target === target;
        const isBlind = target === 'N3' && carrier.name === 'boolean' && !isMatched;
        const row = {
          cell: { carrier: carrier.name, defence, target },
          expected: isMatched || isBlind ? 1 : 0,
          found: defended(carrier, defence, target, schedules, chance),
          reported: isMatched ? 1 : 0,
        };
        return isBlind
          ? { ...row, because: 'the predicate finds nothing erased in 𝔹, defence or not' }
          : row;
      }),
    ),
  );
  return {
    name: 'carriers by defence',
    source: 'Tables 5 and 22, Proposition 8',
    isExact: true,
    rows,
  };
}

function defended(
  carrier: Carrier<any>,
  defence: Defence,
  target: (typeof TARGETS)[number],
  schedules: number,
  chance: RandomDraws,
): number {
  const { schema, under } = DEFENCES[defence];
  let count = 0;
  for (let i = 0; i < schedules; i++) {
    if (target === 'N3') {
      if (!erases(carrier, schema, chance)) count += 1;
    } else {
      const { schedule, initial, shows }: Witness = WITNESSES[target];
      if (!shows(execute(schedule, under, initial === undefined ? {} : { initial }))) count += 1;
    }
  }
  return count / schedules;
}

function erases(carrier: Carrier<any>, schema: SchemaMode, chance: RandomDraws): boolean {
  const execution = execute(contradictions(chance), level('RC'));
  const kept = recovery(execution, 'x', schema);
  return losers(execution, 'x').some((loser) => isUndominated(carrier, kept, loser));
}

/** Table 22, recall: of the writes that audit rows rest on, the part that the carrier names. */
export function tokenRecall(random: Bytes, schedules = 100): Grid {
  requireCount(schedules, 'schedules');
  const chance = new RandomDraws(random);
  const runs = Array.from({ length: schedules }, () => {
    const execution = execute(contradictions(chance), level('RC'));
    return { lost: losers(execution, 'x'), kept: recovery(execution, 'x', 'audit_row') };
  });
  const audited = runs.reduce((sum, { lost }) => sum + lost.length, 0);
  const rows = CARRIERS.map((carrier): Row => {
    const named = runs.flatMap(({ lost, kept }) => {
      const tokens = new Set(
        kept.flatMap(({ provenance }) => carrier.tokens(carrier.project(provenance))),
      );
      return lost.filter(({ token }) => tokens.has(token));
    });
    const expected = carrier.name === 'boolean' ? 0 : 1;
    return {
      cell: { carrier: carrier.name },
      expected,
      found: named.length / audited,
      reported: expected,
    };
  });
  return { name: 'token recall', source: 'Tables 5 and 22', isExact: true, rows };
}

/**
 * Theorem 11, and the counterfactual part of Table 22. The queries run over a log in which a row
 * occurs twice or three times. No product has that row twice. The value is the share of answers
 * from which the shift yields the answer with one occurrence less.
 */
export function counterfactual(random: Bytes, instances = 375): Grid {
  requireCount(instances, 'instances');
  const chance = new RandomDraws(random);
  const all = Array.from({ length: instances }, () => instance(chance));
  const rows = CARRIERS.map((carrier): Row => {
    const recovered = all.filter(({ whole, less, token }) =>
      isRecovered(carrier, whole, less, token),
    );
    const expected = carrier.name === 'multidegree' ? 1 : 0;
    const row = { cell: { carrier: carrier.name }, expected, found: recovered.length / instances };
    return carrier.name === 'multilinear' ? { ...row, ...PRINTED } : { ...row, reported: expected };
  });
  return { name: 'counterfactual recovery', source: 'Theorem 11, Table 22', isExact: true, rows };
}

const PRINTED = {
  reported: 106 / 375,
  because:
    'Theorem 11 gives 0, as the degree is at most 1; the instances of the 106 of 375 are not published',
};

interface Instance {
  readonly token: Token;
  /** The answer, and the answer with one occurrence of the row less. */
  readonly whole: Polynomial;
  readonly less: Polynomial;
}

function instance(chance: RandomDraws): Instance {
  const row = 0;
  const copies = [2 + chance.below(2), ...Array.from({ length: 3 }, () => 1 + chance.below(3))];
  // At least one product has the row.
  const query = Array.from({ length: 1 + chance.below(4) }, (_, i) =>
    copies.flatMap((_, place) => ((i === 0 && place === row) || chance.isSo(0.5) ? [place] : [])),
  );
  const answer = (occurrences: (place: number) => number): Polynomial =>
    query.reduce((sum, places) => sum.plus(product(places, occurrences)), Polynomial.zero);
  return {
    token: writeToken(row),
    whole: answer((place) => copies[place]!),
    less: answer((place) => copies[place]! - (place === row ? 1 : 0)),
  };
}

function product(places: readonly number[], occurrences: (place: number) => number): Polynomial {
  return places.reduce((factor, place) => {
    const powers = Array.from({ length: occurrences(place) }, () =>
      Polynomial.of(writeToken(place)),
    );
    return powers.reduce((a, b) => a.times(b), factor);
  }, Polynomial.one);
}

/** The shift is made on what the carrier has kept; 𝔹 has nothing to shift. */
function isRecovered(
  carrier: Carrier<any>,
  whole: Polynomial,
  less: Polynomial,
  token: Token,
): boolean {
  const kept = carrier.project(whole);
  if (carrier.degree(kept, token) < 2) return false;
  const shifted = recoverByShift(kept, token);
  return shifted !== undefined && carrier.equals(shifted, carrier.project(less));
}
