import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Redirect, Route, Switch } from 'wouter';
import { isRetryable } from '../api/problem.ts';
import { InboxPage } from '../pages/inbox/inbox-page.tsx';
import { NotFound } from '../parts/states.tsx';
import { styleNonce } from './document.ts';
import { Shell } from './shell.tsx';
import { theme } from './theme.ts';

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
          <Switch>
            <Route path="/">
              <Redirect to="/inbox" replace />
            </Route>
            <Route path="/inbox/:id?" component={InboxPage} />
            <Route component={NotFound} />
          </Switch>
        </Shell>
      </QueryClientProvider>
    </MantineProvider>
  );
}
