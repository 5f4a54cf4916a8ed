import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { hasLostSession, isRetryable } from '../api/problem.ts';
import { ME } from '../api/queries.ts';
import { waitingFrom } from '../pages/inbox/approvals-query.ts';
import { Loading, NotFound } from '../parts/states.tsx';
import { styleNonce } from './document.ts';
import { Shell } from './shell.tsx';
import { StartPage } from './start-page.tsx';
import { theme } from './theme.ts';

/** The code of the pages that load when they are shown, by the first part of their address. */
const CODE = {
  needs: () => import('../pages/needs/needs-page.tsx'),
  inbox: () => import('../pages/inbox/inbox-page.tsx'),
  activity: () => import('../pages/activity/activity-page.tsx'),
  timeline: () => import('../pages/timeline/timeline-page.tsx'),
  'what-if': () => import('../pages/what-if/what-if-page.tsx'),
  effects: () => import('../pages/effects/effects-page.tsx'),
  rules: () => import('../pages/rules/rules-page.tsx'),
  memory: () => import('../pages/memory/memory-page.tsx'),
  agents: () => import('../pages/agents/agents-page.tsx'),
  audit: () => import('../pages/audit/audit-page.tsx'),
  incidents: () => import('../pages/incidents/incidents-page.tsx'),
};
const NeedsPage = lazy(CODE.needs);
const InboxPage = lazy(CODE.inbox);
const ActivityPage = lazy(CODE.activity);
const TimelinePage = lazy(CODE.timeline);
const WhatIfPage = lazy(CODE['what-if']);
const EffectsPage = lazy(CODE.effects);
const RulesPage = lazy(CODE.rules);
const MemoryPage = lazy(CODE.memory);
const AgentsPage = lazy(CODE.agents);
const AuditPage = lazy(CODE.audit);
const IncidentsPage = lazy(CODE.incidents);

/** Loads the code of the first page beside the session. A failure shows where the page does. */
const firstPage = location.pathname.split('/')[1] || 'needs';
if (Object.hasOwn(CODE, firstPage)) CODE[firstPage as keyof typeof CODE]().catch(() => undefined);

/** A refused session shows at the frame of the page, and not at one of its parts. */
function onError(error: unknown): void {
  if (hasLostSession(error)) void queries.invalidateQueries({ queryKey: ME });
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => queryKey !== ME && onError(error),
  }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: { retry: (attempts, error) => attempts < 3 && isRetryable(error), staleTime: 5_000 },
    // A change is sent now or never. The library would keep it until there is a network.
    mutations: { networkMode: 'always', retry: false },
  },
});

/** The navigation of each page counts them, so they load beside the code of the page. */
void queries.prefetchQuery(waitingFrom(true));

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => styleNonce}>
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <Shell>
          <Suspense fallback={<Loading what="the page" />}>
            <Switch>
              <Route path="/" component={StartPage} />
              <Route path="/needs" component={NeedsPage} />
              <Route path="/inbox/:id?" component={InboxPage} />
              <Route path="/activity" component={ActivityPage} />
              <Route path="/timeline/:trajectory?/:seq?" component={TimelinePage} />
              <Route path="/effects/:epoch?" component={EffectsPage} />
              <Route path="/agents/:trajectory?" component={AgentsPage} />
              <Route path="/what-if/:trajectory?" component={WhatIfPage} />
              <Route path="/rules" component={RulesPage} />
              <Route path="/audit" component={AuditPage} />
              <Route path="/incidents" component={IncidentsPage} />
              <Route path="/memory/:trajectory?/:space?" component={MemoryPage} />
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Shell>
      </QueryClientProvider>
    </MantineProvider>
  );
}
