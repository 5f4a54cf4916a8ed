import type { Hash, LedgerStore } from 'assize/internal/ledger';
import { TemporaryStore } from 'assize/internal/stores';
import { badOption } from './bad-option.ts';
import {
  type RecordedSummary,
  summaryOf,
  type VariantParting,
  type VariantResult,
  variantPartings,
  variantResult,
} from './compare.ts';
import {
  type CheckedOptions,
  checkedOptions,
  type SimulateOptions,
  type SimulationSource,
} from './options.ts';
import { readProduction } from './production.ts';
import { Sample } from './sample.ts';
import type { SampleResult } from './sample-result.ts';

export interface Simulation {
  readonly trajectoryId: string;
  /** The last entry that all branches share with the record. */
  readonly at: { readonly seq: number; readonly id: Hash };
  readonly recorded: RecordedSummary;
  readonly variants: readonly VariantResult[];
  /** Where two variants part. A pair with equal rulings in every sample is left out. */
  readonly partings: readonly VariantParting[];
}

/**
 * Continues a production trajectory in other ways, each in a copy in memory, and compares them. The
 * source is only read. A call is answered from the record where it has an equal call, by the
 * declared simulator of its tool otherwise. No function of a real tool that acts is called.
 *
 * The n-th call of a tool with an equal input gets the n-th recorded answer after the shared entry,
 * then those before it; each recorded answer is given once. A call without an answer ends its
 * sample. Models are asked, unless the record or `record` has the answer to the same question.
 *
 * A variant equal to the record has the rulings of the record. Without tool calls and other writers
 * its entries are those of the record, byte for byte.
 *
 * @throws AgentError `bad_argument`, `signer_needed`, `damaged`; RuntimeError `not_found`,
 * `domain_mismatch`, `invalid_ledger`; OracleError `damaged`; LedgerFault, StoreError;
 * ArgumentError `bad_argument`; the signal's reason
 */
export async function simulate(
  source: SimulationSource,
  options: SimulateOptions,
): Promise<Simulation> {
  const checked = checkedOptions(source, options);
  await requireOtherRecord(source, checked);
  const production = await readProduction(source, checked);
  const answers = checked.record ?? new TemporaryStore();
  const variants: VariantResult[] = [];
  for (const variant of checked.variants) {
    const samples: SampleResult[] = [];
    for (let number = 0; number < checked.samples; number++) {
      checked.signal?.throwIfAborted();
      samples.push(await new Sample(production, checked, variant, number, answers).run());
    }
    variants.push(variantResult(variant.name, samples));
  }
  const { entry } = production.entries[production.sharedEntries - 1]!;
  return {
    trajectoryId: source.trajectoryId,
    at: { seq: entry.seq, id: entry.id },
    recorded: summaryOf(production),
    variants,
    partings: variantPartings(variants),
  };
}

/**
 * Refuses a record that is the production store, also over another connection: it has the
 * trajectory.
 *
 * @throws AgentError `bad_argument`
 */
async function requireOtherRecord(
  source: SimulationSource,
  { record }: CheckedOptions,
): Promise<void> {
  if (record === undefined) return;
  const { head } = record as Partial<Pick<LedgerStore, 'head'>>;
  const hasTrajectory = async (): Promise<boolean> =>
    typeof head === 'function' && (await head.call(record, source.trajectoryId)) !== undefined;
  const isSource = [source.store, source.oracleStore].some((store) => (store as object) === record);
  if (isSource || (await hasTrajectory()))
    throw badOption(
      `record has the trajectory ${source.trajectoryId}; pass a store of its own for the answers`,
    );
}
