import { Table, Text } from '@mantine/core';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { visibleJson } from 'assize/internal/views/visible.ts';
import { entriesOf } from '../api/changed-by.ts';
import { api, dataOf } from '../api/client.ts';
import { codeOf } from '../api/problem.ts';
import classes from './changes.module.css';
import { Inert } from './inert-text.tsx';

/** One operation of RFC 6902. */
interface Change {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

interface ChangesProps {
  readonly trajectory: string;
  readonly changes: readonly Change[];
  /** The entry with the state before. Default: the last one. */
  readonly at?: string;
}

/** The changed places of a state, each before and after. */
export function Changes({ trajectory, changes, at }: ChangesProps) {
  const before = useQueries({
    queries: changes.map(({ op, path }) => ({
      queryKey: [...(at === undefined ? ['log'] : []), 'state', trajectory, path, at],
      meta: entriesOf(trajectory),
      enabled: op !== 'add',
      queryFn: () => stateAt(trajectory, path, at),
    })),
  });
  return (
    <Table className={classes.changes} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Place</Table.Th>
          <Table.Th>Before</Table.Th>
          <Table.Th>After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map(({ op, path, value }, n) => (
          <Table.Tr key={path}>
            <Table.Td>
              <Inert>{path}</Inert>
            </Table.Td>
            <Table.Td>{op === 'add' ? <None /> : <Before read={before[n]} />}</Table.Td>
            <Table.Td>{op === 'remove' ? <None /> : <Value value={value} />}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

async function stateAt(
  trajectory: string,
  pointer: string,
  at?: string,
): Promise<{ readonly value: unknown }> {
  const params = { path: { trajectory }, query: { pointer, ...(at !== undefined && { at }) } };
  try {
    return {
      value: (await dataOf(api.GET('/v1/trajectories/{trajectory}/state', { params }))).state,
    };
  } catch (error) {
    if (codeOf(error) === 'not_found') return { value: undefined };
    throw error;
  }
}

/** The value before. A value that is not read yet is not the same as none. */
function Before({
  read,
}: {
  readonly read: UseQueryResult<{ readonly value: unknown }> | undefined;
}) {
  if (read?.data !== undefined) return <Value value={read.data.value} />;
  return (
    <Text span size="sm" c="dimmed">
      {read?.isError === true ? 'could not be read' : 'loading…'}
    </Text>
  );
}

function Value({ value }: { readonly value: unknown }) {
  return value === undefined ? <None /> : <code className="wraps">{visibleJson(value)}</code>;
}

function None() {
  return (
    <Text span size="sm" c="dimmed">
      none
    </Text>
  );
}
