import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { isRetryable } from '../api/problem.ts';
import { InboxPage } from '../pages/inbox/inbox-page.tsx';
import { Loading, NotFound } from '../parts/states.tsx';
import { styleNonce } from './document.ts';
import { Shell } from './shell.tsx';
import { theme } from './theme.ts';

const MemoryPage = lazy(async () => ({ default: (await import('../pages/memory/memory-page.tsx')).MemoryPage }));

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: (attempts, error) => attempts < 3 && isRetryable(error), staleTime: 5_000 },
  },
});

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => styleNonce}>
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <Shell>
          <Suspense fallback={<Loading what="the page" />}>
            <Switch>
              <Route path="/">
                <Redirect to="/inbox" replace />
              </Route>
              <Route path="/inbox/:id?" component={InboxPage} />
              <Route path="/memory/:trajectory?/:space?" component={MemoryPage} />
              <Route component={NotFound} />
            </Switch>
          </Suspense>
        </Shell>
      </QueryClientProvider>
    </MantineProvider>
  );
}
