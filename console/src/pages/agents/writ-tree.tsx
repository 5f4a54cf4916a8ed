import { Anchor, Badge, Button, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { useIsAdmin, useRevokeWrit } from './agents-query.ts';
import { BudgetBar } from './budget-bar.tsx';
import { OpenDelegations } from './open-delegations.tsx';
import { type WritNode, writsBelow } from './writ-nodes.ts';
import classes from './writ-tree.module.css';

interface TreeProps {
  readonly trajectory: string;
  readonly nodes: readonly WritNode[];
  /** The id of the writ of the address. */
  readonly chosen: string | undefined;
}

/** Writs, each with the writs that narrow it below. */
export function WritTree(props: TreeProps) {
  return (
    <div className={classes.tree}>
      <Level {...props} />
    </div>
  );
}

function Level({ trajectory, nodes, chosen }: TreeProps) {
  return (
    <ul>
      {nodes.map((node) => (
        <li key={node.listed.id}>
          <Writ trajectory={trajectory} node={node} isChosen={node.listed.id === chosen} />
          {node.children.length > 0 && <Level trajectory={trajectory} nodes={node.children} chosen={chosen} />}
        </li>
      ))}
    </ul>
  );
}

interface WritProps {
  readonly trajectory: string;
  readonly node: WritNode;
  readonly isChosen: boolean;
}

function Writ({ trajectory, node, isChosen }: WritProps) {
  const { id, writ, revoked } = node.listed;
  const { subject, actions = [], scopes = [], require_approval: asked = [], not_before, expires } = writ;
  const isAdmin = useIsAdmin();
  const [isAsking, setAsking] = useState(false);
  const isExpired = Date.parse(expires) <= Date.now();
  const isDead = revoked !== undefined || isExpired;
  return (
    <div className={classes.writ} data-chosen={isChosen || undefined} data-dead={isDead || undefined}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Group gap={8}>
          <Text fw={600} size="sm" className={classes.subject}>
            <Inert>{subject}</Inert>
          </Text>
          <Anchor
            component={Link}
            href={`/agents/${encodeURIComponent(trajectory)}?writ=${id}`}
            size="xs"
            underline="always"
            ff="monospace"
            aria-label={`Writ ${id}`}
            aria-current={isChosen ? 'true' : undefined}
          >
            {id.slice(0, 12)}
          </Anchor>
          {revoked !== undefined && (
            <Badge size="sm" color="red.8" tt="none">
              {revoked.writ === id ? 'Revoked' : 'Revoked above'}
            </Badge>
          )}
          {isExpired && (
            <Badge size="sm" variant="default" tt="none">
              Expired
            </Badge>
          )}
        </Group>
        {isAdmin && revoked === undefined && (
          <Button size="compact-xs" variant="default" onClick={() => setAsking(true)} aria-label={`Revoke ${subject}`}>
            Revoke…
          </Button>
        )}
      </Group>
      <dl className={classes.terms}>
        <dt>Actions</dt>
        <dd>
          <Inert>{actions.join(', ') || 'none'}</Inert>
        </dd>
        <dt>Scopes</dt>
        <dd>
          <Inert>{scopes.join(', ') || 'none'}</Inert>
        </dd>
        {asked.length > 0 && (
          <>
            <dt>A person approves</dt>
            <dd>
              <Inert>{asked.join(', ')}</Inert>
            </dd>
          </>
        )}
        <dt>Valid</dt>
        <dd>
          from <Ago at={not_before} /> to <Ago at={expires} />
          {writ.max_depth > 0 && `, ${writ.max_depth} ${writ.max_depth === 1 ? 'level' : 'levels'} below`}
        </dd>
        {revoked !== undefined && (
          <>
            <dt>Revoked by</dt>
            <dd>
              <EntryLink id={revoked.by} />
            </dd>
          </>
        )}
      </dl>
      <Budgets node={node} />
      {isAsking && <RevokeDialog trajectory={trajectory} node={node} onClose={() => setAsking(false)} />}
    </div>
  );
}

function Budgets({ node: { listed } }: Pick<WritProps, 'node'>) {
  const { granted, spent, reserved, left } = listed;
  const units = Object.keys(granted);
  if (units.length === 0) return null;
  return (
    <Stack gap={4} mt={4}>
      {units.map((unit) => (
        <BudgetBar
          key={unit}
          unit={unit}
          granted={granted[unit] ?? 0}
          spent={spent[unit] ?? 0}
          reserved={reserved[unit] ?? 0}
          left={left[unit] ?? 0}
        />
      ))}
    </Stack>
  );
}

interface RevokeProps {
  readonly trajectory: string;
  readonly node: WritNode;
  readonly onClose: () => void;
}

function RevokeDialog({ trajectory, node, onClose }: RevokeProps) {
  const { id, writ } = node.listed;
  const revoke = useRevokeWrit(trajectory, id);
  const below = writsBelow(node);
  return (
    <ConfirmDialog
      title="Revoke this writ?"
      action="Revoke"
      needsReason
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={(reason) => revoke.mutate(reason, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Text size="sm">
        It ends for ever what <Inert>{writ.subject}</Inert> may do in <Inert>{trajectory}</Inert> by the writ{' '}
        <code>{id.slice(0, 12)}</code>.
      </Text>
      <OpenDelegations trajectory={trajectory} says="It ends there too, in the trajectories of open delegations:" />
      {below.length > 0 && (
        <div>
          <Text size="sm">With it end {below.length} below:</Text>
          <List size="sm">
            {below.map((one) => (
              <List.Item key={one.id}>
                <Inert>{one.writ.subject}</Inert>: <Inert>{(one.writ.actions ?? []).join(', ')}</Inert>
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </ConfirmDialog>
  );
}
