import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { Route, Switch } from 'wouter';
import { hasLostSession, isRetryable } from '../api/problem.ts';
import { ME } from '../api/queries.ts';
import { waitingFrom } from '../pages/inbox/approvals-query.ts';
import { Loading, NotFound } from '../parts/states.tsx';
import { styleNonce } from './document.ts';
import { Shell } from './shell.tsx';
import { StartPage } from './start-page.tsx';
import { theme } from './theme.ts';

type Load = () => Promise<{ readonly default: ComponentType }>;

/**
 * A page with the rest of its address. Its code loads when it is shown. Loaded code shows
 * immediately.
 */
function pageOf(load: Load, rest = '') {
  let loaded: ComponentType | undefined;
  const code = async () => {
    const module = await load();
    loaded = module.default;
    return module;
  };
  const Later = lazy(code);
  const Page = () => {
    const [Shown] = useState(() => loaded ?? Later);
    return <Shown />;
  };
  return { code, Page, rest };
}

/** By the first part of their address. */
const PAGES = {
  needs: pageOf(() => import('../pages/needs/needs-page.tsx')),
  inbox: pageOf(() => import('../pages/inbox/inbox-page.tsx'), '/:id?'),
  activity: pageOf(() => import('../pages/activity/activity-page.tsx')),
  timeline: pageOf(() => import('../pages/timeline/timeline-page.tsx'), '/:trajectory?/:seq?'),
  'what-if': pageOf(() => import('../pages/what-if/what-if-page.tsx'), '/:trajectory?'),
  effects: pageOf(() => import('../pages/effects/effects-page.tsx'), '/:epoch?'),
  rules: pageOf(() => import('../pages/rules/rules-page.tsx')),
  memory: pageOf(() => import('../pages/memory/memory-page.tsx'), '/:trajectory?/:space?'),
  agents: pageOf(() => import('../pages/agents/agents-page.tsx'), '/:trajectory?'),
  audit: pageOf(() => import('../pages/audit/audit-page.tsx')),
  incidents: pageOf(() => import('../pages/incidents/incidents-page.tsx')),
};

/** The code of the page of an address, if it has one. */
export async function loadPage(path: string): Promise<void> {
  const name = path.split('/')[1] || 'needs';
  if (Object.hasOwn(PAGES, name)) await PAGES[name as keyof typeof PAGES].code();
}

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
      <QueryClientProvider client={queries}>
        <Shell>
          <Suspense fallback={<Loading what="the page" />}>
            <Switch>
              <Route path="/" component={StartPage} />
              {Object.entries(PAGES).map(([name, { Page, rest }]) => (
                <Route key={name} path={`/${name}${rest}`} component={Page} />
              ))}
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Shell>
      </QueryClientProvider>
    </MantineProvider>
  );
}
