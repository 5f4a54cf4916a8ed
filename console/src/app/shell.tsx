import { AppShell, Burger, Button, Group, Kbd, NavLink, Text, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { lazy, type ReactNode, Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import { codeOf, hasLostSession } from '../api/problem.ts';
import { useMe } from '../api/queries.ts';
import { useNeedsCounts } from '../pages/needs/needs-query.ts';
import { Observing } from '../pages/rules/observing.tsx';
import { WITH_KEYS } from '../parts/list-keys.ts';
import { Failed, Loading, OtherPerson, SignedOut } from '../parts/states.tsx';
import { FirstSteps, useFirstSteps } from './first-steps.tsx';
import { LiveProvider, useIsConnected } from './live.tsx';
import { PageGuard } from './page-guard.tsx';
import { usePageTitle } from './page-title.ts';
import { pagesFor } from './pages.ts';
import classes from './shell.module.css';

/** Parts that a page can be read without. Their code loads after that of the page. */
const Overlays = lazy(() => import('./overlays.tsx'));
const PersonMenu = lazy(() => import('./person-menu.tsx'));

/** The frame of every page: navigation, commands, the person, and whether the page is live. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const me = useMe();
  const isOther = codeOf(me.error) === 'session_changed';
  if (me.data === undefined || isOther)
    return (
      <main className={classes.outside}>
        <p className={classes.brand}>
          <Sign />
          Assize
        </p>
        {me.isPending ? (
          <Loading what="your session" />
        ) : codeOf(me.error) === 'unauthenticated' ? (
          <SignedOut />
        ) : isOther ? (
          <OtherPerson />
        ) : (
          <Failed error={me.error} retry={() => void me.refetch()} />
        )}
      </main>
    );
  return (
    <LiveProvider person={me.data.name}>
      <Frame name={me.data.name}>{children}</Frame>
      <Suspense>
        <Overlays
          ended={hasLostSession(me.error) ? (me.error ?? undefined) : undefined}
          again={() => void me.refetch()}
        />
      </Suspense>
    </LiveProvider>
  );
}

/** Its height in pixels. */
const HEADER = 48;

function Frame({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  const [opened, { toggle, close }] = useDisclosure(false);
  const [location] = useLocation();
  const kinds = useMe().data?.kinds ?? [];
  const counts = useNeedsCounts();
  const badges: Readonly<Record<string, string | undefined>> = {
    '/needs': counts.all,
    '/inbox': counts.waiting,
    '/effects': counts.inDoubt,
  };
  usePageTitle(location, counts.all);
  const steps = useFirstSteps(name);
  return (
    <AppShell
      header={{ height: HEADER }}
      // The steps arrive after the page, so they are below it and move none of it. In pixels.
      footer={{ height: steps ? 36 : 0 }}
      navbar={{ width: 184, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={0}
    >
      <button type="button" className={classes.skip} onClick={skip}>
        Skip to the content
      </button>
      <AppShell.Header>
        <Group h={HEADER} px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
            />
            <Text fw={700} size="lg" component={Link} href="/needs" className={classes.brand}>
              <Sign />
              <span className={classes.name}>Assize</span>
            </Text>
            <Connection />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button
              variant="default"
              size="xs"
              onClick={spotlight.open}
              rightSection={
                <Kbd size="xs" visibleFrom="sm">
                  Ctrl K
                </Kbd>
              }
            >
              Go to
            </Button>
            <Suspense>
              <PersonMenu name={name} />
            </Suspense>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        {pagesFor(kinds)
          .filter(({ isRare }) => isRare !== true)
          .map((page) => (
            <NavLink
              key={page.path}
              component={Link}
              href={page.path}
              className={classes.page}
              label={page.name}
              rightSection={<Waiting count={badges[page.path]} />}
              active={location.startsWith(page.path)}
              onClick={close}
            />
          ))}
      </AppShell.Navbar>
      <AppShell.Main tabIndex={-1}>
        <Observing />
        <PageGuard address={location}>{children}</PageGuard>
      </AppShell.Main>
      {steps && (
        <AppShell.Footer>
          <FirstSteps done={steps} />
        </AppShell.Footer>
      )}
    </AppShell>
  );
}

/** To the list of the page or to its open item, where their keys act. */
function skip(): void {
  const main = document.querySelector('main');
  const [list, item] = main?.querySelectorAll<HTMLElement>(`[${WITH_KEYS}] > section`) ?? [];
  (list?.parentElement?.dataset['open'] === undefined ? (list ?? main) : item)?.focus();
}

function Waiting({ count }: { readonly count: string | undefined }) {
  if (count === undefined) return null;
  return (
    <span className={classes.waiting}>
      {count}
      <VisuallyHidden> waiting</VisuallyHidden>
    </span>
  );
}

/** The sign of Assize, also the icon of the tab. */
function Sign() {
  return (
    <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true" className={classes.sign}>
      <rect width="32" height="32" rx="7" />
      <path d="M9 23 16 8l7 15M11.5 18h9" />
    </svg>
  );
}

/** Whether new entries arrive on their own. */
function Connection() {
  const isConnected = useIsConnected();
  return (
    <Text
      size="xs"
      className={classes.connection}
      data-connected={isConnected || undefined}
      title={
        isConnected
          ? 'New entries appear immediately'
          : 'No connection. The page shows the last data.'
      }
      role="status"
    >
      {isConnected ? 'Live' : 'Offline'}
    </Text>
  );
}
