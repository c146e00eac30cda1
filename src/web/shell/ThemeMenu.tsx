import { setPreferences, usePreferences, type Preferences } from '../preferences.ts'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Menu } from '../ui/Menu.tsx'

const themes: readonly { theme: Preferences['theme']; label: string; icon: IconName }[] = [
  { theme: 'light', label: 'Light', icon: 'sun' },
  { theme: 'dark', label: 'Dark', icon: 'moon' },
  { theme: 'system', label: 'Like the system', icon: 'system' },
]

export function ThemeMenu() {
  const { theme } = usePreferences()
  return (
    <Menu
      items={themes.map((each) => ({
        id: each.theme,
        label: each.label,
        icon: <Icon name={each.theme === theme ? 'check' : each.icon} />,
        checked: each.theme === theme,
        onSelect: () => setPreferences({ theme: each.theme }),
      }))}
      label="Theme"
      trigger={<Icon name={themes.find((each) => each.theme === theme)?.icon ?? 'system'} size={20} />}
      triggerClassName="touch-target inline-flex size-10 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink"
    />
  )
}
