import { Anchor, Badge, Button, Group, List, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { type ListedWrit, useIsAdmin, useRevokeWrit } from './agents-query.ts';
import { BudgetBar } from './budget-bar.tsx';
import { OpenDelegations } from './open-delegations.tsx';
import { type WritNode, writsBelow } from './writ-nodes.ts';
import classes from './writ-tree.module.css';

const NEAR_MS = 3 * 365 * 86_400_000;

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
          {node.children.length > 0 && (
            <Folded
              isFolded={isGrant(node) && !writsBelow(node).some(({ id }) => id === chosen)}
              node={node}
            >
              <Level trajectory={trajectory} nodes={node.children} chosen={chosen} />
            </Folded>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The short writs of a grant. The server makes another one each hour. */
function Folded({ isFolded, node, children }: FoldedProps) {
  if (!isFolded) return children;
  const { length } = node.children;
  return (
    <details>
      <summary>
        {length} short {length === 1 ? 'writ' : 'writs'}
      </summary>
      {children}
    </details>
  );
}

interface FoldedProps {
  readonly isFolded: boolean;
  readonly node: WritNode;
  readonly children: ReactNode;
}

/** Whether the server holds the writ for a principal of the configuration. */
function isGrant({ listed: { writ, principal } }: WritNode): boolean {
  return principal !== null && /^[0-9a-f]{64}$/.test(writ.subject);
}

interface WritProps {
  readonly trajectory: string;
  readonly node: WritNode;
  readonly isChosen: boolean;
}

function Writ({ trajectory, node, isChosen }: WritProps) {
  const { id, writ, revoked } = node.listed;
  const { actions = [], scopes = [], require_approval: asked = [], not_before, expires } = writ;
  const isAdmin = useIsAdmin();
  const [isAsking, setAsking] = useState(false);
  const isExpired = Date.parse(expires) <= Date.now();
  const isDead = revoked !== undefined || isExpired;
  return (
    <div
      className={classes.writ}
      data-chosen={isChosen || undefined}
      data-dead={isDead || undefined}
    >
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Group gap={8}>
          <Text fw={600} size="sm" className={classes.subject}>
            <Inert>{subjectText(node.listed)}</Inert>
          </Text>
          <Anchor
            component={Link}
            href={`/agents/${encodeURIComponent(trajectory)}?writ=${id}`}
            size="xs"
            underline="always"
            ff="monospace"
            aria-label={`Writ ${id.slice(0, 12)}`}
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
          <Button
            size="compact-xs"
            variant="default"
            className={classes.revoke}
            onClick={() => setAsking(true)}
            aria-label={`Revoke the writ of ${subjectText(node.listed)}`}
          >
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
            <dt>A person decides</dt>
            <dd>
              <Inert>{asked.join(', ')}</Inert>
            </dd>
          </>
        )}
        <dt>Valid</dt>
        <dd>
          {minuteText(not_before)} to {minuteText(expires)}
          {isNear(expires) && (
            <>
              {isExpired ? ', ended ' : ', ends '}
              <Ago at={expires} />
            </>
          )}
        </dd>
        {writ.max_depth > 0 && (
          <>
            <dt>May pass on</dt>
            <dd>
              {writ.max_depth} {writ.max_depth === 1 ? 'level' : 'levels'} deep
            </dd>
          </>
        )}
        {revoked !== undefined && (
          <>
            <dt>Revoked by</dt>
            <dd>
              <EntryLink id={revoked.by} withTime />
            </dd>
          </>
        )}
      </dl>
      <Budgets node={node} />
      {isAsking && (
        <RevokeDialog trajectory={trajectory} node={node} onClose={() => setAsking(false)} />
      )}
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
  const { id } = node.listed;
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
        It ends for ever what <Inert>{subjectText(node.listed)}</Inert> may do in{' '}
        <Inert>{trajectory}</Inert> by the writ <code>{id.slice(0, 12)}</code>, and no other writ.{' '}
        {isOfGrant(node) && OTHER_WRITS}
      </Text>
      <OpenDelegations
        trajectory={trajectory}
        says="It ends there too, in the worlds of open delegations:"
      />
      {below.length > 0 && (
        <div>
          <Text size="sm">With it end {below.length} below:</Text>
          <List size="sm">
            {below.map((one) => (
              <List.Item key={one.id}>
                <Inert>{subjectText(one)}</Inert>:{' '}
                <Inert>{(one.writ.actions ?? []).join(', ')}</Inert>
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </ConfirmDialog>
  );
}

const OTHER_WRITS =
  'The server gives the agent another one: to end what it does, stop the agent on the page Agents.';

function isOfGrant(node: WritNode): boolean {
  return node.listed.principal !== null && !isGrant(node);
}

/** A key of the server holds a grant of the configuration, and passes it on. */
function subjectText({ writ, principal }: ListedWrit): string {
  if (!/^[0-9a-f]{64}$/.test(writ.subject)) return writ.subject;
  const key = `key ${writ.subject.slice(0, 12)}…`;
  return principal === null ? key : `Grant of ${principal} (${key})`;
}

/** A distance of many years says less than its date. */
function isNear(at: string): boolean {
  return Math.abs(Date.parse(at) - Date.now()) < NEAR_MS;
}

/** `2026-11-27 18:50 UTC` */
function minuteText(at: string): string {
  return `${at.slice(0, 16).replace('T', ' ')} UTC`;
}
