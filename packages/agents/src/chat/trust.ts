import { isAssizeError } from 'assize/internal/base';
import { type FactRow, Polynomial, readTrust, type Trust } from 'assize/internal/memory';

/** The policies, judges and approvers that a fact's provenance names. */
export function tokensOfTrust({ provenance_id }: Pick<FactRow, 'provenance_id'>): readonly Trust[] {
  try {
    return Polynomial.read(provenance_id).tokens.flatMap((token) => readTrust(token) ?? []);
  } catch (error) {
    // A provenance of another carrier names none.
    if (!isAssizeError(error)) throw error;
    return [];
  }
}
