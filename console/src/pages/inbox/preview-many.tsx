import { Button, Group, Table, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import type { Approval, Card } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import type { Judgement } from '../../parts/judgement.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { WideDialog } from '../../parts/wide-dialog.tsx';
import { useWhole } from './approvals-query.ts';
import classes from './preview-many.module.css';
import { SumText } from './sum-text.tsx';
import { whatDiffers } from './what-differs.ts';

interface PreviewProps {
  readonly cards: readonly Card[];
  readonly onClose: () => void;
}

/** A dialog with all marked proposals in one table. */
export function PreviewMany({ cards, onClose }: PreviewProps) {
  const found = useWhole(cards.map(({ id }) => id));
  return (
    <WideDialog title="What differs" onClose={onClose}>
      {found.data !== undefined ? (
        <Comparison approvals={found.data} />
      ) : found.error === null ? (
        <Loading what="the arguments" />
      ) : (
        <Failed error={found.error} retry={() => void found.refetch()} />
      )}
    </WideDialog>
  );
}

/** Equal arguments once, and a row of the others for each proposal. */
function Comparison({ approvals }: { readonly approvals: readonly Approval[] }) {
  const [judged, setJudged] = useState<ReadonlyMap<string, Judgement>>(new Map());
  const { equal, columns, rows } = whatDiffers(approvals);
  const judge = useMutation({
    mutationFn: async () => {
      const found = new Map<string, Judgement>();
      for (const { id, digest } of approvals) {
        const request = { params: { path: { approval: id } }, body: { digest } };
        found.set(id, await dataOf(api.POST('/v1/approvals/{approval}/judge', request)));
        setJudged(new Map(found));
      }
    },
  });
  return (
    <>
      {equal.length > 0 && (
        <Text size="sm" className="wraps">
          Equal in all:{' '}
          <Inert>
            {equal
              .map(({ name, value }) => `${name === '' ? 'arguments' : name} ${value}`)
              .join(', ')}
          </Inert>
        </Text>
      )}
      <Text size="sm">
        {rows.length} {rows.length === 1 ? 'proposal' : 'proposals'}
        <SumText cards={approvals.map(({ card }) => card)} />. A value that only one of them has is
        bold.
      </Text>
      <div className={classes.scroll}>
        <Table fz="xs" verticalSpacing={3}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((name) => (
                <Table.Th key={name}>
                  <Inert>{name === '' ? 'arguments' : name}</Inert>
                </Table.Th>
              ))}
              <Table.Th>Requester</Table.Th>
              {judged.size > 0 && <Table.Th>Judged alone</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ approval, cells }) => (
              <Table.Tr key={approval.id}>
                {cells.map(({ value = 'absent', isAlone }, n) => (
                  <Table.Td key={columns[n]} className="wraps">
                    {isAlone ? (
                      <strong>
                        <Inert>{value}</Inert>
                      </strong>
                    ) : (
                      <Inert>{value}</Inert>
                    )}
                  </Table.Td>
                ))}
                <Table.Td>
                  <Inert>{approval.requester}</Inert>
                </Table.Td>
                {judged.size > 0 && <Table.Td>{textOf(judged.get(approval.id))}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <Group gap="xs" mt={4}>
        <Button
          size="xs"
          variant="default"
          loading={judge.isPending}
          onClick={() => judge.mutate()}
        >
          Judge each
        </Button>
        <Text size="xs">
          Each is judged alone, as if it were the first: an approval can change the next judgement.
        </Text>
      </Group>
      {judge.error !== null && (
        <Text size="sm" role="alert">
          {judge.error.message}
        </Text>
      )}
    </>
  );
}

function textOf(judged: Judgement | undefined) {
  if (judged === undefined) return '…';
  if (judged.ruling === 'committed') return 'would be approved';
  if (judged.ruling === 'escalated') return 'would wait for another approver';
  return <Inert>{judged.detail}</Inert>;
}
