import { Button, Stack, Table, Text, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import {
  type Session,
  type Token,
  useEndSession,
  useIsAdmin,
  useRevokeToken,
  useSessions,
  useTokens,
} from './agents-query.ts';

/** The signed-in browsers and the bearer tokens of all principals. For admins. */
export function People() {
  if (!useIsAdmin())
    return (
      <Stack gap="xs">
        <Title order={2} size="h4">
          People
        </Title>
        <Text size="sm">Only an admin sees the sessions and the tokens of principals.</Text>
      </Stack>
    );
  return (
    <Stack gap="lg">
      <Title order={2} size="h4">
        People
      </Title>
      <Sessions />
      <Tokens />
    </Stack>
  );
}

function Sessions() {
  const found = useSessions();
  return (
    <Listed
      title="Sessions"
      about="Signed-in browsers."
      found={found}
      count={found.data?.sessions.length}
      more={found.data?.next}
    >
      <Rows head={['Principal', 'Signed in by', 'Since', 'Until', '']}>
        {found.data?.sessions.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </Rows>
    </Listed>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  const [isAsking, setAsking] = useState(false);
  const end = useEndSession(session.id);
  return (
    <Table.Tr>
      <Table.Td>
        <Inert>{session.principal}</Inert>
      </Table.Td>
      <Table.Td>{session.method === 'session' ? 'link' : session.method}</Table.Td>
      <Table.Td>
        <Ago at={session.created} />
      </Table.Td>
      <Table.Td>
        <Ago at={session.expires} />
      </Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`End the session of ${session.principal}`}
          onClick={() => setAsking(true)}
        >
          End…
        </Button>
        {isAsking && (
          <ConfirmDialog
            title="End this session?"
            action="End the session"
            isPending={end.isPending}
            error={end.error}
            onConfirm={() => end.mutate('', { onSuccess: () => setAsking(false) })}
            onClose={() => setAsking(false)}
          >
            <Text size="sm">
              The browser of <Inert>{session.principal}</Inert> is signed out from its next request
              on. The person may sign in again.
            </Text>
          </ConfirmDialog>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function Tokens() {
  const found = useTokens();
  return (
    <Listed
      title="Tokens"
      about="Bearer tokens of programs."
      found={found}
      count={found.data?.tokens.length}
      more={found.data?.next}
    >
      <Rows head={['Principal', 'Kinds', 'Note', 'Made', 'Until', '']}>
        {found.data?.tokens.map((token) => (
          <TokenRow key={token.id} token={token} />
        ))}
      </Rows>
    </Listed>
  );
}

function TokenRow({ token }: { readonly token: Token }) {
  const [isAsking, setAsking] = useState(false);
  const revoke = useRevokeToken(token.id);
  return (
    <Table.Tr>
      <Table.Td>
        <Inert>{token.principal}</Inert>
      </Table.Td>
      <Table.Td>{token.kinds.join(', ')}</Table.Td>
      <Table.Td>{token.note !== undefined && <Inert>{token.note}</Inert>}</Table.Td>
      <Table.Td>
        <Ago at={token.created} />
      </Table.Td>
      <Table.Td>
        <Ago at={token.expires} />
      </Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Revoke the token ${token.id} of ${token.principal}`}
          onClick={() => setAsking(true)}
        >
          Revoke…
        </Button>
        {isAsking && (
          <ConfirmDialog
            title="Revoke this token?"
            action="Revoke"
            isPending={revoke.isPending}
            error={revoke.error}
            onConfirm={() => revoke.mutate('', { onSuccess: () => setAsking(false) })}
            onClose={() => setAsking(false)}
          >
            <Text size="sm">
              Programs that use the token <code>{token.id}</code> of{' '}
              <Inert>{token.principal}</Inert> are refused from their next request on. It does not
              come back.
            </Text>
          </ConfirmDialog>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

interface ListedProps {
  readonly title: string;
  readonly about: string;
  readonly found: {
    readonly isPending: boolean;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  readonly count: number | undefined;
  readonly more: string | undefined;
  readonly children: ReactNode;
}

function Listed({ title, about, found, count, more, children }: ListedProps) {
  return (
    <section>
      <Title order={3} size="h6">
        {title}
        {count !== undefined && (
          <Text span c="dimmed" ml={6} size="sm">
            {count}
            {more === undefined ? '' : '+'}
          </Text>
        )}
      </Title>
      <Text size="xs" c="dimmed" mb={6}>
        {about}
      </Text>
      {found.isPending && <Loading what={title.toLowerCase()} />}
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {count === 0 && <Text size="sm">None.</Text>}
      {count !== undefined && count > 0 && children}
    </section>
  );
}

function Rows({
  head,
  children,
}: {
  readonly head: readonly string[];
  readonly children: ReactNode;
}) {
  return (
    <Table.ScrollContainer minWidth={520} type="native">
      <Table>
        <Table.Thead>
          <Table.Tr>
            {head.map((name) =>
              name === '' ? <Table.Td key={name} /> : <Table.Th key={name}>{name}</Table.Th>,
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
