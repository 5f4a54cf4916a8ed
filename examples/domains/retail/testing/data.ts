import {
  type Call,
  type Recorded as OfAnybody,
  TauData,
} from '../../../../tests/support/models/tau-data.ts';
import { authenticatedUser } from '../authentication.ts';
import { retailInitial } from '../initial.ts';
import type { RetailRecords, RetailState } from '../schema.ts';
import { retailTools } from '../tools.ts';

export type { Call };

/** The recorded calls, and their users. */
export interface Recorded extends OfAnybody {
  user: string;
}

const data = new TauData('tau-retail');

export const hasRetail: boolean = data.isThere;

export function readRetailRecords(): RetailRecords {
  return {
    users: data.collection('users'),
    products: data.collection('products'),
    orders: data.collection('orders'),
  };
}

export function retailWorld(): RetailState {
  return retailInitial(readRetailRecords());
}

/** The benchmark's own solutions of its 70 tasks. */
export function recordedSolutions(): Recorded[] {
  const records = readRetailRecords();
  return data
    .solutions()
    .map((one) => ({ ...one, user: authenticatedUser(one.calls, records) ?? 'nobody' }));
}

export function isWrite({ name }: Call): boolean {
  return (retailTools.writes as readonly string[]).includes(name);
}
