import {
  type BeliefChange,
  type BlobRef,
  beliefChange,
  type ContentRef,
  type FactVersion,
  type FactWrite,
  type Hash,
  inheritanceOf,
  placedProvenance,
  type SaltedRef,
} from '#ledger';
import type { FactRow, Plan } from '#memory';
import type { PayloadBlobs } from '../../records/payload-blobs.ts';
import { isErasedRow } from './erased-row.ts';
import type { OpenRows } from './open-rows.ts';
import type { InheritedPartition } from './partition-cache.ts';
import { requireEntryFits } from './size-limits.ts';
import type { StatedPartition } from './stated-partitions.ts';

/** The known state of a partition to change. */
export interface PlanBase {
  /** The open rows that the plan depends on. */
  readonly touched: readonly FactVersion[];
  /** For a withdrawal: all versions of the partition. */
  readonly past: readonly FactVersion[];
  readonly open: OpenRows;
  readonly names: ContentRef | undefined;
  /** The source, for a branch that has not changed the partition yet. */
  readonly source?: InheritedPartition | undefined;
}

/** The plan of a partition, with all answers. */
export interface PlannedPartition extends PlanBase {
  readonly group: StatedPartition;
  readonly plan: Plan;
  readonly version: number;
}

/** The changes of planned partitions, as an entry has them, and as the store takes them. */
interface FactWrites {
  readonly changes: readonly BeliefChange[];
  readonly writesOf: (entryId: Hash) => readonly FactWrite[];
}

/** Stores the texts of the changes as blobs. @throws the errors of `requireEntryFits` */
export function factWrites(planned: readonly PlannedPartition[], blobs: PayloadBlobs): FactWrites {
  const parts = planned.map(
    ({ group, plan, version, touched, past, open, names: known, source }) => {
      const { name } = group;
      const names = known ?? contentOf(blobs.storeSalted({ ...name }));
      const stated = [...past, ...touched].filter(({ row_kind }) => row_kind === 'current');
      const contents = new Map(stated.map(({ lineage, content }) => [lineage, content]));
      const claims = new Set(plan.insert.map(({ lineage }) => lineage));
      const insert = plan.insert.map((row): [FactRow, ContentRef] => {
        // One blob per claim, so it is erased with the claim in every place. A witness is a
        // separate blob.
        if (row.row_kind === 'audit') return [row, contentOf(blobs.storeSalted(row.object))];
        const content = contents.get(row.lineage) ?? contentOf(blobs.storeSalted(row.object));
        contents.set(row.lineage, content);
        return [row, content];
      });
      const inherit =
        source?.until === undefined ? undefined : { until: source.until, rows: source.open };
      // Blobs that must not be erased before the commit. For a branch these are all open rows,
      // because an erasure in the source does not change the branch's partition.
      const restored = past.filter((row) => row.row_kind === 'current' && claims.has(row.lineage));
      const repeated = name.branch === undefined ? repeatedBy(plan, touched) : textsOf(open.all);
      const repeats = [...new Set([...repeated, ...textsOf(restored)])];
      const reads = source?.reads ?? [];
      return {
        name,
        names,
        plan,
        version,
        insert,
        cardinality: group.cardinality,
        inherit,
        repeats,
        reads,
      };
    },
  );
  const changes = parts.map(({ names, plan, version, insert, cardinality, inherit }) =>
    beliefChange(plan, {
      partition: referenceTo(names),
      version,
      cardinality,
      objects: insert.map(([, content]) => referenceTo(content)),
      ...(inherit !== undefined && { inherit: inheritanceOf(inherit.until, inherit.rows) }),
    }),
  );
  requireEntryFits(changes);
  const writesOf = (entryId: Hash): readonly FactWrite[] =>
    parts.map(({ name, names, plan, version, insert, inherit, repeats, reads }) => ({
      partition: name,
      names,
      version,
      system_time: plan.systemTime,
      close: plan.close,
      insert: insert.map(([row, content]) => ({
        ...row,
        ...(name.branch !== undefined && { branch: name.branch }),
        provenance_id: placedProvenance(row.provenance_id, entryId),
        entry_id: entryId,
        content,
      })),
      ...(inherit !== undefined && { inherit }),
      ...(repeats.length > 0 && { repeats }),
      ...(reads.length > 0 && { reads }),
    }));
  return { changes, writesOf };
}

/**
 * The blobs with texts that the plan's witnesses repeat: those of all open rows of a contradiction.
 */
function repeatedBy({ insert }: Plan, touched: readonly FactVersion[]): Hash[] {
  const lost = insert.filter(({ row_kind }) => row_kind === 'audit');
  const isRepeated = (row: FactVersion): boolean =>
    lost.some(({ valid_from, valid_to }) => row.valid_from < valid_to && valid_from < row.valid_to);
  return [...new Set(textsOf(touched.filter(isRepeated)))];
}

/** The blobs of rows, unless erased. */
export function textsOf(rows: readonly FactVersion[]): Hash[] {
  return rows.filter((row) => !isErasedRow(row)).map(({ content }) => content.hash);
}

function contentOf({ $blob: hash, bytes }: BlobRef): ContentRef {
  return { hash, bytes };
}

function referenceTo({ hash, bytes }: ContentRef): SaltedRef {
  return { $blob: hash, bytes, salted: true };
}
