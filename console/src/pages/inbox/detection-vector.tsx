import { Table, Text } from '@mantine/core';
import { Inert } from '../../parts/inert-text.tsx';
import classes from './decision-form.module.css';
import type { Broken } from './use-decision-draft.ts';

/** Each rule that the approved state does not pass. */
export function DetectionVector({ broken }: { readonly broken: Broken }) {
  if (broken.length === 0) return null;
  return (
    <Table className={classes.broken} mt={4} aria-label="Rules that the result breaks">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Rule</Table.Th>
          <Table.Th>Result</Table.Th>
          <Table.Th>Detail</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {broken.map(({ invariant_id, result, detail = '' }) => (
          <Table.Tr key={invariant_id}>
            <Table.Td>
              <Inert>{invariant_id}</Inert>
            </Table.Td>
            <Table.Td>
              <Text size="sm">{result}</Text>
            </Table.Td>
            <Table.Td>
              <Inert>{detail}</Inert>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
