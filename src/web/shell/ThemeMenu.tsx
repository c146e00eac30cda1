import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { setPreferences, usePreferences, type Preferences } from '../local-data/preferences.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Menu } from '../ui/Menu.tsx'

const themes: readonly { theme: Preferences['theme']; label: MessageDescriptor; icon: IconName }[] =
  [
    { theme: 'light', label: msg`Light`, icon: 'sun' },
    { theme: 'dark', label: msg`Dark`, icon: 'moon' },
    { theme: 'system', label: msg`Like the system`, icon: 'system' },
  ]

export function ThemeMenu() {
  const { theme } = usePreferences()
  const { t } = useLingui()
  return (
    <Menu
      items={themes.map((each) => ({
        id: each.theme,
        label: t(each.label),
        icon: <Icon name={each.theme === theme ? 'check' : each.icon} />,
        checked: each.theme === theme,
        onSelect: () => setPreferences({ theme: each.theme }),
      }))}
      label={t`Theme`}
      trigger={
        <Icon name={themes.find((each) => each.theme === theme)?.icon ?? 'system'} size={20} />
      }
      triggerClassName="touch-target inline-flex size-10 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink"
    />
  )
}
