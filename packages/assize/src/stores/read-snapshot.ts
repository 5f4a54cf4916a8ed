import type { FactReads } from '#ledger';
import {
  checkBranchPartitionQuery,
  checkFactQuery,
  checkTextQuery,
  checkVectorQuery,
} from './fact-input.ts';
import type { Reads } from './native-port.ts';

/** The reads of facts. */
export type FactAnswers = Pick<
  Reads,
  'facts' | 'branchPartitions' | 'factsByText' | 'factsByVector'
>;

/** The port of reads that see one snapshot. `asked` converts failures to StoreErrors. */
export function factReads(
  reads: FactAnswers,
  asked: <T>(step: () => T | Promise<T>) => Promise<T>,
): FactReads {
  return {
    facts: async (query) => {
      const checked = checkFactQuery(query);
      return asked(() => reads.facts(checked));
    },
    branchPartitions: async (query) => {
      const checked = checkBranchPartitionQuery(query);
      return asked(() => reads.branchPartitions(checked));
    },
    factsByText: async (query) => {
      const checked = checkTextQuery(query);
      return asked(() => reads.factsByText(checked));
    },
    factsByVector: async (query) => {
      const checked = checkVectorQuery(query);
      return asked(() => reads.factsByVector(checked));
    },
  };
}
