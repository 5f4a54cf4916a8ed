import { Box, Button } from '@mantine/core';

/** The end of a list that has more items. */
export function ShowMore({ onMore }: { readonly onMore: () => void }) {
  return (
    <Box p="sm">
      <Button size="xs" variant="default" fullWidth onClick={onMore}>
        Show more
      </Button>
    </Box>
  );
}
