import * as provenance from '../../../packages/assize/src/memory/provenance/index.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, takes } from './table.ts';

const { Polynomial } = provenance;
const ENTRY = 'ab'.repeat(32);
const TEXT = '2*t:policy:v1*w:@0 + w:@1^2';
const one = Polynomial.read(TEXT);
const other = Polynomial.of('w:@1');

/** The exports of the parts of memory that know nothing of facts. */
export const MEMORY_ALGEBRA: Readonly<Record<string, Case | Exempt>> = {
  'new Polynomial': exempt('its constructor is private'),
  'Polynomial.of': takes(Polynomial.of, ['w:@0']),
  'Polynomial.read': takes(Polynomial.read, [TEXT]),
  'Polynomial.toString': exempt('no arguments'),
  'Polynomial.tokens': exempt('no arguments'),
  'Polynomial.equals': takes(
    (given) => one.equals(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.plus': takes(
    (given) => one.plus(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.times': takes(
    (given) => one.times(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.precedes': takes(
    (given) => one.precedes(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.substitute': takes((token, given) => one.substitute(token, given), ['w:@1', other], {
    '1': MADE,
  }),
  'Polynomial.placed': takes((id) => one.placed(id), [ENTRY]),
  trustToken: takes(provenance.trustToken, ['judge', 'k']),
  writeToken: takes(provenance.writeToken, [1, ENTRY]),
};
