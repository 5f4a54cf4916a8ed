import { Alert, Anchor, Button, Center, Code, Loader, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { codeOf, isUnanswered } from '../api/problem.ts';
import { hasLinksOfStart, hasProvider } from '../app/document.ts';
import classes from './states.module.css';
import { keepWanted } from './wanted-page.ts';

/** A list or a page without content, with the reason. */
export function Empty({
  title,
  isPage = false,
  children,
}: {
  readonly title: string;
  /** Whether it is the whole page, and its title the first heading. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}) {
  return (
    <Center p="xl">
      <Stack align="center" gap="xs">
        <Title order={isPage ? 1 : 2} size="h4">
          {title}
        </Title>
        <Text c="dimmed" ta="center" maw={440} component="div">
          {children}
        </Text>
      </Stack>
    </Center>
  );
}

export function Loading({ what }: { readonly what: string }) {
  return (
    <Center p="xl" role="status">
      <Loader size="sm" mr="sm" />
      <Text c="dimmed">Loading {what}…</Text>
    </Center>
  );
}

export function NotFound() {
  return (
    <Empty isPage title="There is no such page">
      <Anchor component={Link} href="/needs" underline="always">
        Go to what needs you
      </Anchor>
      , choose another page, or press Ctrl K.
    </Empty>
  );
}

/** A failed request: offline, signed out, not allowed, or another problem with its remedy. */
export function Failed({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  if (codeOf(error) === 'unauthenticated') return <SignedOut />;
  const message = error instanceof Error ? error.message : String(error);
  const { title, text } = isUnanswered(error)
    ? {
        title: 'The server does not answer',
        text: 'This part loads again when the server is back.',
      }
    : codeOf(error) === 'forbidden'
      ? { title: 'You may not see this', text: message }
      : { title: 'The request failed', text: message };
  return (
    <Alert color="red" variant="light" title={title} className={classes.failed} role="alert">
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{text}</Text>
        {retry !== undefined && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** The browser is signed in as another person than this page shows. */
export function OtherPerson() {
  return (
    <Empty isPage title="This browser is signed in as another person">
      <Stack gap="sm" align="center">
        <span>The server refuses what this page asks in the name of the person before.</span>
        <Button onClick={() => location.reload()}>Load the page again</Button>
      </Stack>
    </Empty>
  );
}

/** How to sign in. Afterwards this tab shows the page that was asked for. */
export function SignedOut({ title = 'You are not signed in' }: { readonly title?: string }) {
  useEffect(keepWanted, []);
  return (
    <Empty isPage title={title}>
      <Stack gap="sm" align="center">
        {hasProvider && (
          <Button component="a" href="/sign-in/oidc">
            Sign in
          </Button>
        )}
        {hasLinksOfStart ? (
          <span>
            Open a link that the server printed at its start. Each signs in once, within ten
            minutes. For a new one, run the command that it printed below the links.
          </span>
        ) : (
          <span>
            {hasProvider ? 'Or ask' : 'Ask'} an administrator for a link:{' '}
            <Code>assize token sign-in NAME</Code>
          </span>
        )}
      </Stack>
    </Empty>
  );
}
