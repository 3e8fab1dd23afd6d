# The template of the formula for a Homebrew tap. `.ci/manifests.py` fills it in at each release, for the archives that there are.
class KubectlPodrank < Formula
  desc "Show which pods go first at a scale-down, and why, and choose them"
  homepage "https://github.com/podrank/podrank"
  version "{{ .Version }}"
  license "Apache-2.0"

  on_macos do
    on_intel do
      url "https://github.com/podrank/podrank/releases/download/{{ .TagName }}/kubectl-podrank-darwin-amd64.tar.gz"
      sha256 "{{ .Sha256 }}"
    end
    on_arm do
      url "https://github.com/podrank/podrank/releases/download/{{ .TagName }}/kubectl-podrank-darwin-arm64.tar.gz"
      sha256 "{{ .Sha256 }}"
    end
  end
  on_linux do
    on_intel do
      url "https://github.com/podrank/podrank/releases/download/{{ .TagName }}/kubectl-podrank-linux-amd64.tar.gz"
      sha256 "{{ .Sha256 }}"
    end
    on_arm do
      url "https://github.com/podrank/podrank/releases/download/{{ .TagName }}/kubectl-podrank-linux-arm64.tar.gz"
      sha256 "{{ .Sha256 }}"
    end
  end

  def install
    bin.install "kubectl-podrank"
    # Homebrew installs LICENSE and NOTICE without being told.
    prefix.install "THIRD-PARTY.txt"
    (bin/"kubectl_complete-podrank").write Utils.safe_popen_read(bin/"kubectl-podrank", "completion", "kubectl")
    generate_completions_from_executable(bin/"kubectl-podrank", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/kubectl-podrank version")
  end
end
