import { createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: 8,
  autoContrast: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'var(--assize-mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '19px' },
  defaultRadius: 'sm',
  respectReducedMotion: true,
  components: {
    // Names are case-sensitive.
    Badge: { defaultProps: { tt: 'none' } },
    Anchor: { defaultProps: { underline: 'always' } },
    Table: { defaultProps: { fz: 'sm', verticalSpacing: 5 } },
  },
});
