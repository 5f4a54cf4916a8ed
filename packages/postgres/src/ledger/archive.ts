import {
  type ArchiveReads,
  type ArchiveWrites,
  type FileColumns,
  membersText,
  segmentFile,
} from 'assize/internal/stores/archive/port.ts';
import type { SegmentFile } from 'assize/internal/stores/archive/segment-file.ts';
import type { Row } from '../connection/driver.ts';
import type { Readers } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';
import type { GroupCommit } from '../writer/group-commit.ts';

const COLUMNS = "n, segment, part, first, lines, encode(hash, 'hex'), bytes, members, erasures";

/** The reads of the tables of an archive. */
export function prepareArchiveReads(readers: Readers, schema: string): ArchiveReads {
  const state: Statement = {
    name: 'assize archive',
    text: `SELECT level, place, (
        SELECT coalesce(max(segment) + 1, 0) FROM "${schema}".archive_file WHERE part = 'entries' AND state = 'live'
      ) FROM "${schema}".archive`,
  };
  const files: Statement = {
    name: 'assize segment files',
    text: `SELECT ${COLUMNS} FROM "${schema}".archive_file
      WHERE state = 'live' AND segment >= $1 AND segment < $2 ORDER BY segment, part, first`,
  };
  const due: Statement = {
    name: 'assize files due',
    text: `SELECT ${COLUMNS}, state FROM "${schema}".archive_file
      WHERE state = 'old' OR (state = 'live' AND erasures > 0) ORDER BY n`,
  };
  const marked: Statement = {
    name: 'assize marked blobs',
    text: `SELECT count(*) FROM "${schema}".blob WHERE erased_by IS NULL AND text ~ '^@[0-9]+[.][0-9]+$'`,
  };
  return {
    markedBlobs: async () => Number((await readers.run(marked))[0]![0]),
    archive: async () => {
      const [row] = await readers.run(state);
      return row && { level: Number(row[0]), place: row[1] as string, segments: Number(row[2]) };
    },
    segmentFiles: async (from, limit) =>
      (await readers.run(files, [from, from + limit])).map(fileOf),
    filesDue: async () =>
      (await readers.run(due)).map((row) => ({
        file: fileOf(row),
        due: row[9] === 'old' ? 'remove' : 'rewrite',
      })),
  };
}

/** The writes of the tables of an archive, each one call of a function of the schema. */
export function prepareArchiveWrites(group: GroupCommit, schema: string): ArchiveWrites {
  const ask = (text: string, values: unknown[]): Promise<string | null> =>
    group.run(async (session) => (await session.run({ text }, values))[0]?.[0] ?? null);
  return {
    beginFiles: async ({ level, place }, files) => {
      const numbers = await ask(
        `SELECT array_to_json("${schema}".begin_archive_files($1, $2, $3, $4, $5, $6, $7, $8, $9))`,
        [
          level,
          place,
          files.map(({ segment }) => segment),
          files.map(({ part }) => part),
          files.map(({ first }) => first),
          files.map(({ lines }) => lines),
          files.map(({ hash }) => bytea(hash)),
          files.map(({ bytes }) => bytes),
          files.map(({ members }) => membersText(members)),
        ],
      );
      return numbers === null ? undefined : (JSON.parse(numbers) as number[]);
    },
    archiveSegment: async ({ segment, files, letters, blobs }) =>
      (await ask(`SELECT "${schema}".archive_segment($1, $2, $3, $4, $5)`, [
        segment,
        files,
        letters,
        blobs.map(({ hash }) => bytea(hash)),
        blobs.map(({ line }) => line),
      ])) === 't',
    replaceFile: async ({ old, fresh, erasures }) =>
      (await ask(`SELECT "${schema}".replace_archive_file($1, $2, $3)`, [old, fresh, erasures])) ===
      't',
    discardFiles: async (files) => {
      await ask(`SELECT "${schema}".discard_archive_files($1)`, [files ?? null]);
    },
    forgetFiles: async (files) => {
      await ask(`DELETE FROM "${schema}".archive_file WHERE n = ANY ($1) AND state = 'old'`, [
        files,
      ]);
    },
  };
}

function fileOf(row: Row): SegmentFile {
  const [n, segment, part, first, lines, hash, bytes, members, erasures] = row;
  const columns = [
    Number(n),
    Number(segment),
    part,
    Number(first),
    Number(lines),
    hash,
    Number(bytes),
    members,
    Number(erasures),
  ];
  return segmentFile(columns as unknown as FileColumns);
}
