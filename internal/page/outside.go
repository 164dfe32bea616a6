package page

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"vault-mcp/hitl"
	"vault-mcp/internal/config"
	"vault-mcp/internal/run"
)

// Outside starts the person's browser and shows notifications, with what the system
// has for both.
type Outside struct {
	env      config.Env
	programs *run.Programs
}

const (
	// openTime is how long a browser may take to say that it cannot be opened, and
	// notifyTime how long a notification may take.
	openTime   = 5 * time.Second
	notifyTime = 10 * time.Second
)

// desktopVariables are those by which a program finds the person's desktop.
var desktopVariables = []string{
	"HOME", "USER", "LOGNAME", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "XDG_SESSION_DESKTOP",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS", "DESKTOP_SESSION", "DBUS_SESSION_BUS_ADDRESS", "WSL_DISTRO_NAME", "WSL_INTEROP",
	"SystemRoot", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "TEMP", "ProgramFiles", "ProgramFiles(x86)", "ProgramData",
}

// NewOutside is for a person with an environment. Nothing is started from within
// the vaults.
func NewOutside(env config.Env, vaults []string) *Outside {
	paths := map[string]string{}
	if runtime.GOOS == "windows" {
		system := filepath.Join(env("SystemRoot"), "System32")
		paths["rundll32"] = filepath.Join(system, "rundll32.exe")
		paths["powershell"] = filepath.Join(system, "WindowsPowerShell", "v1.0", "powershell.exe")
	}
	return &Outside{env, run.New(run.Options{Paths: paths, Vaults: vaults})}
}

// variables are what a program of the desktop gets. It looks for the browser itself,
// wherever the person has it, but in no vault.
func (o *Outside) variables(more ...string) []string {
	list := append([]string{"PATH=" + o.programs.SearchPath(o.env("PATH"))}, more...)
	for _, name := range desktopVariables {
		if value := o.env(name); value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// Open opens an address in the person's browser. Others on this machine may see it
// among the arguments of programs as long as that takes.
func (o *Outside) Open(ctx context.Context, address string) error {
	c := run.Command{Name: "xdg-open", Args: []string{address}, Env: o.variables(), Timeout: openTime}
	switch runtime.GOOS {
	case "darwin":
		c.Name = "open"
	case "windows":
		c.Name, c.Args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	if err := o.programs.Launch(ctx, c); err != nil {
		return fmt.Errorf("the browser cannot be opened: %w", err)
	}
	return nil
}

// toast shows a notification of Windows, whose texts are variables: nothing in them
// is read as a part of the script.
const toast = `$x = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType=WindowsRuntime]::GetTemplateContent(1)
$t = $x.GetElementsByTagName('text')
[void]$t.Item(0).AppendChild($x.CreateTextNode($env:VAULT_MCP_TITLE))
[void]$t.Item(1).AppendChild($x.CreateTextNode($env:VAULT_MCP_TEXT))
$n = [Windows.UI.Notifications.ToastNotification, Windows.UI.Notifications, ContentType=WindowsRuntime]::new($x)
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier('{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe').Show($n)`

// Notify shows a notification of the desktop. Where there is no program for it the
// error is *run.MissingError.
func (o *Outside) Notify(ctx context.Context, title, text string) error {
	c := run.Command{Env: o.variables(), Timeout: notifyTime, MaxOutput: 64 << 10}
	switch runtime.GOOS {
	case "darwin":
		c.Name = "osascript"
		c.Args = []string{"-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, text}
	case "windows":
		c.Name, c.Args = "powershell", []string{"-NoProfile", "-NonInteractive", "-Command", toast}
		c.Env = o.variables("VAULT_MCP_TITLE="+title, "VAULT_MCP_TEXT="+text)
	default:
		c.Name, c.Args = "notify-send", []string{"--app-name=vault-mcp", "--", title, markup.Replace(text)}
	}
	return o.programs.Run(ctx, c, io.Discard)
}

// markup keeps the texts of notifications from being read as markup.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// announcement is what a notification says: how many, which tool and which vault,
// and nothing of a note.
func announcement(list []*hitl.Request) (title, text string) {
	if len(list) == 1 {
		return "A call waits for you", hitl.Display(list[0].Tool) + " in the vault " + hitl.Display(list[0].Vault)
	}
	return fmt.Sprintf("%d calls wait for you", len(list)), "The newest is " + hitl.Display(list[len(list)-1].Tool) + " in the vault " + hitl.Display(list[len(list)-1].Vault)
}
