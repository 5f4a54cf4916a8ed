import * as base from '#base';
import type { Case, Exempt } from './case.ts';
import { takes } from './table.ts';

export const BASE: Readonly<Record<string, Case | Exempt>> = {
  isAssizeError: takes(base.isAssizeError, [new Error('x'), 'bad_key']),
};
